import type { FastifyReply, FastifyRequest } from 'fastify';

/** What GraphQL's resolvers get as their context; the server makes it. `ifMatch` holds the versions that a client's `If-Match` allows. */
export interface BridgeContext {
  ifMatch?: readonly number[];
}

/** One request as the bridge sees it. */
export interface Call {
  context: object;
  /** Path and query as sent, e.g. `/api/jobs?limit=10`: the base of a page's links. */
  url: string;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string | string[]>>;
  /** Parsed JSON; undefined without a body. */
  body: unknown;
  /** The client sent `Prefer: respond-async`. */
  respondAsync: boolean;
}

/** What a row answers. `body` undefined: nothing. `version` is the record's, for its ETag. */
export interface RestResponse {
  status: number;
  body?: unknown;
  headers?: Record<string, string> | undefined;
  version?: number | undefined;
  /** The answer is one record: it gets an ETag. */
  single?: boolean;
}

/** What a row's own handler works with. */
export interface AdapterCall extends Call {
  request: FastifyRequest;
  reply: FastifyReply;
  /** Runs the row's GraphQL field with the path's and query's values and these arguments, and answers as a bridge row would. Faults are thrown. */
  run(args?: Record<string, unknown>): Promise<RestResponse>;
  /** Follows the row's `Subscription` field; each value is presented by the row's presenter. Errors are thrown as faults. */
  subscribe(args?: Record<string, unknown>): Promise<AsyncIterableIterator<unknown>>;
}

/** Sends by itself (`reply`), or returns what fastify shall send: a stream, a buffer, or a value for JSON. */
export type Handler = (call: AdapterCall) => unknown;
