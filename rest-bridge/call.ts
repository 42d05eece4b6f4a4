import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppRequest, AppResponse, ReceiveBody } from '../src/core/app-run.ts';
import type { Confinement } from '../src/core/authority.ts';
import type { ByteRange } from '../src/core/files.ts';
import type { OpenKeyedRequest } from '../src/core/idempotency.ts';
import type { LinkViewer } from './links.ts';

/** Runs the handler of an app for a request, whose body it receives. `key` is an id or a hook token. Throws `ApiError`s. */
export type RunApp = (key: string, request: AppRequest, receive: ReceiveBody) => Promise<AppResponse>;

/** The part of the resolvers' context that the bridge uses. The server creates the context. */
export interface BridgeContext {
  /** Versions that the client's `If-Match` allows. */
  ifMatch?: readonly number[];
  /** The tags of the client's `If-Match`, of any kind. */
  ifMatchTags?: readonly string[] | undefined;
  /** Opens a request with an idempotency key. Undefined without one, and without a caller. */
  openKeyed?: OpenKeyedRequest;
  /** Reads lists. In `counted` it returns the length of the whole list if the request reads a part. */
  read?: { counted?: { total?: number } };
  /** Returns whether the client has the response that a text stands for. Set for rows with `revalidates`. */
  revalidate?: (state: string) => boolean;
  /** Takes the bytes of the response. Set for rows that send a file. */
  sendFile?: (content: Readable, size: number) => void;
  /** Returns the part of the bytes that the request asks for, by their size and digest. Set like `sendFile`. */
  selectRange?: (size: number, digest: string) => ByteRange | undefined;
  /** Records the error of a download as a refusal, if it is one. Set for rows that send a stored file. */
  recordRefusal?: (params: Readonly<Record<string, string>>, error: unknown) => Promise<void>;
  /** Runs a handler of an app, by the id or token in the path. Set for rows with `runsApp`. */
  runApp?: RunApp;
  /** Sends a page in place of a redirect of an app that must not be followed unseen. Returns false if the client gets it. */
  sendRedirectPage?: (
    request: FastifyRequest,
    reply: FastifyReply,
    location: string,
    confinement: Confinement | undefined,
  ) => boolean;
  /** The caller; null without credentials. */
  viewer?: LinkViewer | null;
}

/** One request, independent of Fastify. */
export interface Call {
  context: object;
  /** Path and query as sent, e.g. `/api/jobs?limit=10`. Page links are built from it. */
  url: string;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string | string[]>>;
  /** Parsed JSON; undefined without a body. */
  body: unknown;
  /** Whether the client sent `Prefer: respond-async`. */
  respondAsync: boolean;
  /** Method and path of a request with an idempotency key. */
  keyed?: { method: string; path: string } | undefined;
}

/** The response of a row. Without `body` it is empty. */
export interface RestResponse {
  status: number;
  body?: unknown;
  headers?: Record<string, string> | undefined;
  /** Version of the record, for its ETag. */
  version?: number | undefined;
  /** Whether the body is a single record, which gets an ETag. */
  single?: boolean;
}

/** Arguments of a row's own handler. */
export interface AdapterCall extends Call {
  request: FastifyRequest;
  reply: FastifyReply;
  /** Runs the row's GraphQL field with the values of path and query, and with `args` or else the body. Throws `ApiError`s. */
  run(args?: Record<string, unknown>): Promise<RestResponse>;
  /** Subscribes to the row's `Subscription` field. The row's presenter presents each value. Throws `ApiError`s. */
  subscribe(args?: Record<string, unknown>): Promise<AsyncIterableIterator<unknown>>;
}

/** Sends a response through `reply`, or returns the value that Fastify sends: a stream, a buffer, or a value for JSON. */
export type Handler = (call: AdapterCall) => unknown;
