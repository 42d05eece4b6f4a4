import { errorCodes, type FastifyInstance } from 'fastify';
import { parseJsonInSteps } from '../core/json-pieces.ts';
import { parseInTurns } from '../core/large-json.ts';

/** Values that are examined in one step. */
const VALUES_OF_STEP = 1000;

/** Parses the JSON bodies of a server by the rules of Fastify's own parser, and large ones in turns. */
export function acceptPlainJson(app: FastifyInstance): void {
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    parseInTurns({ bytes: bytes as Buffer, address: request.ip }, parseBody, done);
  });
}

function* parseBody(bytes: Buffer): Generator<void, unknown> {
  if (bytes.length === 0) throw new errorCodes.FST_ERR_CTP_EMPTY_JSON_BODY();
  let isSuspicious = false;
  const inspect = (text: string) => {
    isSuspicious ||= /__proto__|constructor|\\u00[567]/.test(text);
  };
  try {
    const body = yield* parseJsonInSteps(bytes, inspect);
    if (!isSuspicious || !(yield* hasPrototype(body))) return body;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new errorCodes.FST_ERR_CTP_INVALID_JSON_BODY();
}

/** Returns whether a value contains a key `__proto__`, or `prototype` in a `constructor`, which change objects that are merged. */
function* hasPrototype(body: unknown): Generator<void, boolean> {
  const waiting = [body];
  let examined = 0;
  while (waiting.length > 0) {
    const value = waiting.pop() as object;
    if (typeof value !== 'object' || value === null) continue;
    if (Object.hasOwn(value, '__proto__')) return true;
    const constructor: unknown = Object.hasOwn(value, 'constructor') ? value.constructor : null;
    if (typeof constructor === 'object' && constructor !== null && Object.hasOwn(constructor, 'prototype')) return true;
    for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
      if (++examined % VALUES_OF_STEP === 0) yield;
      const member = (value as Record<string | number, unknown>)[key];
      if (typeof member === 'object' && member !== null) waiting.push(member);
    }
  }
  return false;
}
