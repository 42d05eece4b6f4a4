import type { AppResponse, HandlerFetch } from './app-run.ts';
import type { Authority } from './authority.ts';
import type { Viewer } from './viewer.ts';

/** Maximum size of a response to the `fetch` of a handler, in bytes. */
export const MAX_FETCHED_BYTES = 10_000_000;

/** A request of a handler to the REST API of the service. */
export interface InternalCall {
  /**
   * The viewer of the handler. The request has their rights as a token would, without the rights that are refused to
   * apps.
   */
  viewer: Viewer;
  /** Address and id of the request that the handler runs for. */
  address: string;
  requestId: string;
  /** Authority of the handler, which the request inherits. */
  authority: Authority;
  /** How many handlers called each other to get to this one: 0 for one that was called from outside. */
  depth: number;
  /** Its `url` is a path. */
  request: HandlerFetch;
  /** Ends the request and its response. */
  signal: AbortSignal;
}

/**
 * The REST API, for calls by the service itself. They take no connection. See
 * docs/contract/handlers.md#services-of-handlers.
 */
export interface InternalApi {
  /**
   * Sends a request and receives its whole response, of any status. Throws BAD_USER_INPUT for a path that is not below
   * `/api`, UPSTREAM_FAILED for a response that is too large, and the signal's reason when it aborts.
   */
  call(call: InternalCall): Promise<AppResponse>;
}
