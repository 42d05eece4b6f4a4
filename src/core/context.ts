import type { Readable } from 'node:stream';
import type { AuditedRequest } from './audit.ts';
import type { Authority } from './authority.ts';
import type { Query } from './database.ts';
import type { ByteRange } from './files.ts';
import type { KeyedMutation, OpenKeyedRequest } from './idempotency.ts';
import type { GraphqlOperation } from './metrics.ts';
import type { Level } from './permissions.ts';
import type { Platform, Transaction } from './platform.ts';
import type { Reader } from './read/reader.ts';
import type { Viewer } from './viewer.ts';

/** The facts of a request that services use. */
export interface RequestInfo extends AuditedRequest {
  address: string;
  userAgent: string | null;
  /** Aborted when the response was sent, the client hangs up, its credential ends, or the service stops. */
  signal: AbortSignal;
  /**
   * Whether the request has a session cookie without proof of the same origin. It must not change anything. See
   * docs/contract/access.md#sessions.
   */
  crossSite?: boolean;
  /** Whether the method of the request is safe, so that mutations are refused, although it has a body: QUERY. */
  isSafe?: boolean;
  /** Why the browser would not send the session cookie from the page of this request. Absent or null if it does. */
  cookieRefusal?: string | null;
  /** Whether the request has an `Authorization` of any scheme or a session cookie, valid or not. */
  hasCredentials?: boolean;
  /** The running mutation of a request with an idempotency key. */
  keyed?: KeyedMutation | undefined;
  /** How many handlers of apps called each other to send this request. Absent or 0 for a request from outside. */
  appDepth?: number;
  /** Authority of the handler that sends this request. Absent for a request from outside. */
  authority?: Authority | undefined;
  /**
   * Calls a function when the response is complete, but not yet sent, or the request has ended. Undefined on channels on which
   * requests last.
   */
  onComplete?(end: () => void): void;
  /** Names the GraphQL operation of the request, for log and metrics. */
  setOperation(operation: GraphqlOperation): void;
  /**
   * Reads, sets or clears the cookie with the state of a login at an identity provider. Undefined on channels without
   * cookies.
   */
  loginCookie?: { get(): string | undefined; set(value: string | null): void };
  /** Sets or clears the session cookie in the response. Does nothing on channels without cookies. */
  setSession(value: string | null): void;
}

/** The part of a dataset that restricted shares allow. See docs/contract/access.md#restricted-shares. */
export interface Restriction {
  /** Criteria of the rows, combined with OR. Null means all rows. */
  rows: Record<string, unknown>[] | null;
  /** Names of the visible fields. Null means all fields. */
  fields: ReadonlySet<string> | null;
}

/** First parameter of every resolver and service. `viewer` is null only in public root fields. */
export interface PublicContext {
  platform: Platform;
  request: RequestInfo;
  viewer: Viewer | null;
  /** Versions that `If-Match` allows. A change of another version fails with 412. */
  ifMatch?: readonly number[];
  /** The entity tags of `If-Match`, for files that are identified by their bytes instead of a version. */
  ifMatchTags?: readonly string[];
  /** Set in a request of a viewer with an idempotency key. */
  openKeyed?: OpenKeyedRequest;
  /**
   * Set in a request for rows that can be revalidated. Takes a text that differs if the response would. Returns whether
   * the client has that response, so that the rows need not be read.
   */
  revalidate?: (state: string) => boolean;
  /** Set in a request for the bytes of one file. Takes them in place of the field, which then does not read them. */
  sendFile?: (content: Readable, size: number) => void;
  /**
   * Returns the requested part of contents with this size and digest; undefined for all of them. Throws 416. Set like
   * `sendFile`, whose `content` is then that part.
   */
  selectRange?: (size: number, digest: string) => ByteRange | undefined;
}

/** The context of an authenticated caller. It reads and writes in the tenant of the caller only. */
export interface Context extends PublicContext {
  viewer: Viewer;
  /** Reads GraphQL selections with the access filters of the viewer. */
  read: Reader;
  /** Returns the level that shares grant the viewer on a resource. Calls in the same tick share one statement. */
  sharedLevel(resourceId: string): Promise<Level>;
  /** Returns the part of a dataset that the viewer can see. Calls in the same tick share one statement. */
  restriction(datasetId: string): Promise<Restriction>;
  /** Runs one statement in the tenant of the viewer. */
  query: Query;
  /** Runs a unit of work in the tenant of the viewer. A throw rolls it back. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
}
