import type { FastifyInstance } from 'fastify';
import { MAX_JSON_BODY_BYTES } from '../src/core/api-error.ts';
import { badInput, defineError } from '../src/core/errors.ts';
import { checkTextsInSteps, mayBeUnstorable } from '../src/core/input-text.ts';
import { MAX_JSON_DEPTH } from '../src/core/json-depth.ts';
import { parseJsonInSteps } from '../src/core/json-pieces.ts';
import { parseInTurns } from '../src/core/large-json.ts';

const unsupportedCharset = defineError(
  415,
  'UNSUPPORTED_MEDIA_TYPE',
  (charset: string) => `JSON must be encoded in UTF-8, not in ${charset}`,
);

/** Bytes whose brackets are counted in one step. */
const BYTES_OF_STEP = 1 << 16;

/** Returns whether brackets nest deeper than allowed. Scans only texts that are long enough to. */
function* nestsTooDeeply(bytes: Buffer): Generator<void, boolean> {
  if (bytes.length < MAX_JSON_DEPTH * 2) return false;
  let depth = 0;
  let quoted = false;
  for (let index = 0; index < bytes.length; index += 1) {
    if (index % BYTES_OF_STEP === 0) yield;
    const code = bytes[index];
    if (quoted) {
      if (code === 92) index += 1;
      else if (code === 34) quoted = false;
    } else if (code === 34) quoted = true;
    else if (code === 91 || code === 123) {
      if ((depth += 1) > MAX_JSON_DEPTH) return true;
    } else if (code === 93 || code === 125) depth -= 1;
  }
  return false;
}

/**
 * Parses a JSON body. Returns undefined for an empty one. Throws 400 for invalid JSON and for texts that cannot be stored.
 */
function* parseBody(bytes: Buffer): Generator<void, unknown> {
  if (bytes.length === 0) return undefined;
  if (yield* nestsTooDeeply(bytes)) throw badInput(`The body nests deeper than ${MAX_JSON_DEPTH} levels`);
  let isUnstorable = false;
  let hasPrototype = false;
  const inspect = (text: string) => {
    isUnstorable ||= mayBeUnstorable(text);
    hasPrototype ||= text.includes('__proto__') && /"__proto__"\s*:/.test(text);
  };
  let body: unknown;
  try {
    body = yield* parseJsonInSteps(bytes, inspect);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badInput(`The body is not well-formed JSON: ${error.message}`);
  }
  if (isUnstorable) yield* checkTextsInSteps(body);
  if (hasPrototype) throw badInput('The body may not contain the key "__proto__"');
  return body;
}

/**
 * Makes sure that a scope reads JSON bodies only, including `application/hal+json` and similar types. Others are
 * refused with 415.
 */
export function acceptOnlyJson(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i,
    { parseAs: 'buffer', bodyLimit: MAX_JSON_BODY_BYTES },
    (request, bytes, done) => {
      const charset = /charset\s*=\s*"?([\w-]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
      if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset)) done(unsupportedCharset(charset));
      else parseInTurns({ bytes: bytes as Buffer, address: request.ip }, parseBody, done);
    },
  );
}

/** Leaves every body of a scope unread: `request.body` is the stream. */
export function leaveBodiesUnread(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  leaveOtherBodiesUnread(scope);
}

/** Leaves bodies unread for which a scope has no parser. */
export function leaveOtherBodiesUnread(scope: FastifyInstance): void {
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
}
