import type { FastifyInstance } from 'fastify';
import { badInput, defineError } from '../src/core/errors.ts';
import { MAX_JSON_DEPTH } from '../src/core/json-depth.ts';
import { parseInOwnTurn } from '../src/core/large-json.ts';

/** A longer JSON body is refused with 413. See docs/contract.md#shapes. */
export const MAX_JSON_BYTES = 10 * 1024 * 1024;

const unsupportedCharset = defineError(
  415,
  'UNSUPPORTED_MEDIA_TYPE',
  (charset: string) => `JSON must be encoded in UTF-8, not in ${charset}`,
);

/** Returns whether brackets nest deeper than allowed. Scans only texts that are long enough to. */
function nestsTooDeeply(text: string): boolean {
  if (text.length < MAX_JSON_DEPTH * 2) return false;
  let depth = 0;
  let quoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
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

/** Parses a JSON body. Returns undefined for an empty text. Throws 400. */
function parseJson(text: string): unknown {
  if (text === '') return undefined;
  if (nestsTooDeeply(text)) throw badInput(`The body nests deeper than ${MAX_JSON_DEPTH} levels`);
  let body: unknown;
  try {
    body = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    throw badInput(`The body is not well-formed JSON: ${(error as Error).message}`);
  }
  if (text.includes('__proto__') && /"__proto__"\s*:/.test(text))
    throw badInput('The body may not contain the key "__proto__"');
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
    { parseAs: 'string', bodyLimit: MAX_JSON_BYTES },
    (request, text, done) => {
      const charset = /charset\s*=\s*"?([\w-]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
      const parse = () => {
        try {
          if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset)) throw unsupportedCharset(charset);
          done(null, parseJson(text as string));
        } catch (error) {
          done(error as Error);
        }
      };
      parseInOwnTurn({ text: text as string, address: request.ip }, parse, done);
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
