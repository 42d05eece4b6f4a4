import { upstreamFailed, type ApiError } from '../../core/errors.ts';

/** A server that is called without a token and requires one. */
export const authorizationRequired = (host: string): ApiError =>
  upstreamFailed(
    `The MCP server "${host}" requires authorization. Authorize the toolkit with ` +
      'POST /api/toolkits/{id}/connection/_authorize, or set the header that the server expects',
  );

/** A server that refuses the token of the connection, even after a renewal. */
export const tokenRefused = (host: string): ApiError =>
  upstreamFailed(
    `The MCP server "${host}" refuses the access token of the connection. Authorize the toolkit again with ` +
      'POST /api/toolkits/{id}/connection/_authorize',
  );

/** Secrets of fewer characters are not masked in messages: they would mask ordinary words. */
const MIN_SECRET_CHARACTERS = 4;

/** Returns a secret and its words, because a server may quote the token of `Bearer <token>` alone. */
export const partsOf = (value: string): string[] =>
  [value, encodeURIComponent(value), ...value.split(/\s+/)].filter(
    (part) => part.length >= MIN_SECRET_CHARACTERS && !/^(?:bearer|basic|token)$/i.test(part),
  );
