import type { AuditedRequest } from './audit.ts';
import type { Query } from './database.ts';
import type { Level } from './permissions.ts';
import type { Platform, Transaction } from './platform.ts';
import type { Reader } from './read/reader.ts';
import type { Viewer } from './viewer.ts';

/** What a request tells about itself. */
export interface RequestFacts extends AuditedRequest {
  address: string;
  userAgent: string | null;
  /** Aborted when the client hangs up, its credential ends, or the service stops. */
  signal: AbortSignal;
  /** It came with the session's cookie and does not show that it is of the same origin: it must not change anything (contract 2). */
  foreign?: boolean;
  /** Sets or clears the session cookie of the answer; does nothing where there is none to set. */
  setSession(value: string | null): void;
}

/** What shares of a part show of a dataset (contract 3). */
export interface Restriction {
  /** Criteria of the rows: any of them. Null is all rows. */
  rows: Record<string, unknown>[] | null;
  /** Names of the fields; null is all. */
  fields: ReadonlySet<string> | null;
}

/** What every resolver and service gets first. Public root fields may meet a null viewer, all others never do. */
export interface PublicContext {
  platform: Platform;
  request: RequestFacts;
  viewer: Viewer | null;
  /** Versions that `If-Match` allows; a change of any other fails with 412. */
  ifMatch?: readonly number[];
}

/** The context of an authenticated caller: reading and writing happen in the caller's tenant. */
export interface Context extends PublicContext {
  viewer: Viewer;
  /** Reads what a GraphQL selection asks for, under the viewer's rights. */
  read: Reader;
  /** The level that shares give the viewer on a resource, beside what its ownership gives. Calls of one tick share a statement. */
  sharedLevel(resourceId: string): Promise<Level>;
  /** What shares hide from the viewer of a dataset that they see in part. Calls of one tick share a statement. */
  restriction(datasetId: string): Promise<Restriction>;
  /** One statement in the viewer's tenant. */
  query: Query;
  /** A unit of work in the viewer's tenant; throwing undoes all of it. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
}
