import type { Authority, Confinement } from './authority.ts';
import type { Context } from './context.ts';
import type { ApiError } from './errors.ts';
import type { SandboxLog } from './sandbox.ts';

/** A request for a handler of an app. */
export interface AppRequest {
  /** In lower case. */
  method: string;
  /**
   * Path below `view` or `_hook`, e.g. `/orders/7`, without a slash at its end. It is decoded, but for `%2F` and `%25`: a
   * slash and a percent sign within a segment.
   */
  path: string;
  query: Readonly<Record<string, string | string[]>>;
  /** By their names in lower case, without credentials and cookies. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}

/** Counts a body while it arrives, and stops it. */
export interface BodyReceipt {
  /** Milliseconds after which the connection of a body that was stopped is destroyed, unless the rest has arrived. */
  readonly closeMs: number;
  /** Sets the condition that ends the body early. */
  onStop(stop: (error: ApiError) => void): void;
  /** Counts bytes that have arrived. Throws UNAVAILABLE if there is not enough memory for them. */
  received(bytes: number): void;
  /** Ends the checks of time: everything has arrived. */
  complete(): void;
}

/**
 * Receives the body of a request. Throws PAYLOAD_TOO_LARGE as soon as it exceeds `maxBytes`, while the rest of it still
 * arrives, and the error that stops the receipt.
 */
export type ReceiveBody = (maxBytes: number, receipt: BodyReceipt) => Promise<Uint8Array>;

/** Sends the response of a handler before its end. */
export type SendResponse = (response: AppResponse) => Promise<void>;

/** The response of a handler. */
export interface AppResponse {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** Set if it may contain what the app has read with the rights of its caller. */
  confinement?: Confinement | undefined;
}

/** An app whose code runs. */
export interface RunningApp {
  id: string;
  tenantId: string;
  /** Slug of the tenant. */
  tenant: string;
  slug: string;
  name: string;
  /** Principal: `user:<id>` or `team:<id>`. */
  ownerId: string;
  /** Whether the owner has accepted the app. */
  accepted: boolean;
  /** The active release. */
  releaseId: string;
  /** The encrypted environment; null if it is empty. */
  env: string | null;
}

/** A route of a release. */
export interface HandlerRoute {
  method: string;
  /** E.g. `/orders/:id`. */
  path: string;
  handlerPath: string;
  config: Record<string, unknown>;
}

/** The user or team of a request, as handlers get it. */
export interface HandlerUser {
  /** User id or `team:<id>`. */
  id: string;
  /** Name to display. */
  name: string;
  type: 'user' | 'team';
  /** Null for a team. */
  username: string | null;
}

/** The rights of a user on an app. A user has all roles that apply. */
export type AppRole = 'viewer' | 'editor' | 'admin' | 'superuser';

/**
 * The way in which a request reaches an app. It goes to a route below `view`, to a webhook with proof of the sender
 * (the hook token or a signature), or to a webhook without proof. Each way has separate memory for bodies, places and
 * limits, so that callers without proof take nothing from others.
 */
export type Entrance = 'view' | 'proven' | 'open';

/** Parts of the places that the apps of an owner have. */
export const ENTRANCE_SHARES: Readonly<Record<Entrance, number>> = { view: 1 / 2, proven: 1 / 4, open: 1 / 4 };

/** A handler to run. */
export interface HandlerTask {
  app: RunningApp;
  route: HandlerRoute;
  /** Parameters in the path by their names. */
  params: Readonly<Record<string, string>>;
  request: AppRequest;
  /** Acts as the caller of a view route, and as the owner of the app for a webhook. Its signal ends the run. */
  ctx: Context;
  /** The authority of the run and of everything that it causes. */
  authority: Authority;
  user: HandlerUser;
  roles: readonly AppRole[];
  /** How many handlers called each other to get here: 0 for a request from outside. */
  depth: number;
  /** Default: a route below `view`. */
  entrance?: Entrance;
  /** The visitor who shares the places of the owner with others. Default: the user that `ctx` acts for. */
  visitorId?: string | undefined;
  /**
   * Sends a response before the run has ended. From then on the signal of `ctx` does not end it. Default: the response is sent
   * at its end.
   */
  send?: SendResponse | undefined;
}

/** How a handler ended: with a response, or with a failure that has a message for authors, or with both if it failed later. */
export interface HandlerOutcome {
  result: { response: AppResponse; lateFailure?: ApiError } | { failure: ApiError };
  /** The lines that it logged, without values of the environment. */
  logs: readonly SandboxLog[];
  durationMs: number;
  memoryBytes: number;
}

/** A request of a handler to the service or to an outside address. */
export interface HandlerFetch {
  /** An absolute URL, a path that starts with `/api/`, or a path below it without a leading slash. */
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | null;
  /** Whether a GET from outside of the service follows redirects. Default: true. */
  followsRedirects?: boolean;
}

/** The services outside of their app that handlers can use. Arguments are unchecked JSON. Errors are `ApiError`s. */
export interface HandlerServices {
  fetch(request: HandlerFetch, signal: AbortSignal): Promise<AppResponse>;
  emit(name: unknown, payload: unknown): Promise<void>;
  /** Returns the number of notified users. */
  notify(principals: unknown, notification: unknown): Promise<number>;
  email(mail: unknown): Promise<void>;
}

/** A run of a handler that has ended, or a webhook call that started none. */
export interface EndedRun {
  app: Pick<RunningApp, 'id' | 'tenantId' | 'ownerId'>;
  /** Path of the route, e.g. `/orders/:id`; null if none has the path and method. */
  route: string | null;
  requestId: string;
  /** Id of the user or team that is charged. */
  payerId: string;
  /** Until the response, and longer for a handler that continued after it. */
  durationMs: number;
  /** How long a handler ran, which is charged; 0 if none did. Default: `durationMs`. */
  computeMs?: number;
  memoryBytes: number;
  logs: readonly SandboxLog[];
  /** The failure with its message for authors. */
  error: string | null;
  /** The record of a call of a webhook. */
  call?: {
    id: string;
    method: string;
    path: string;
    status: number;
    /** Null if its body was not received, or its signature is wrong: such a call cannot be repeated. */
    request: AppRequest | null;
    /** Id of the call that was repeated. */
    replayOf: string | null;
  };
}
