import type { EntityManager } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Query } from './database.ts';
import type { DatasetIndex } from './dataset-index.ts';
import type { FileStore } from './files.ts';
import type { QueuedWork } from './operations.ts';
import type { Driver } from './row-source.ts';

/**
 * A change of one row by a unit of work. For an update, `fields` names the changed fields and `before` contains their
 * former values.
 */
export interface RowChange {
  type: 'create' | 'update' | 'delete';
  row: object;
  fields: readonly string[];
  before: Readonly<Record<string, unknown>>;
}

/** A transaction in one tenant: unit of work and single statements on one connection. */
export interface Transaction {
  em: EntityManager;
  query: Query;
  /** Returns the changes that the unit of work has written so far, one per row. Single statements are not included. */
  changes(): readonly RowChange[];
}

/** Access to the rows of one tenant at a time: each statement and transaction sees only the tenant that it names. */
export interface TenantDatabase {
  query<R extends Record<string, unknown>>(tenantId: string, statement: Parameters<Query>[0]): Promise<R[]>;
  transaction<T>(tenantId: string, work: (tx: Transaction) => Promise<T>): Promise<T>;
}

/** Access to the rows of all tenants, e.g. to find the tenant of a login. Few files may use it. */
export interface SystemDatabase {
  query: Query;
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
}

/** Notifications from Postgres. Payloads are ids only: a listener reads the row again. */
interface Notifications {
  readonly connected: boolean;
  /** Adds a listener. Returns the function that removes it. */
  on(channel: string, listener: (payload: string) => void): () => void;
  /**
   * Notifies the listeners of this process at once. Postgres notifies all processes a moment later. So the caller of a
   * change sees it with the next request.
   */
  notifyLocally(channel: string, payload: string): void;
  /** Adds a listener for reconnects, after which notifications may be missing. Returns the function that removes it. */
  onResync(listener: () => void): () => void;
}

/** The queue of long operations. */
export interface OperationQueue {
  /** Queues a work item in the transaction of the change that requests it. Does nothing if the item is queued. */
  send(work: QueuedWork, tx: { query: Query }): Promise<void>;
}

/** Encrypts secrets at rest. A sealed text names the key that opens it. */
export interface SecretBox {
  /** Returns a digest that reveals nothing about the text to those without the key, not even to those who guess it. */
  digest(text: string): string;
  seal(plain: string): string;
  open(sealed: string): string;
}

/** The outside systems of one process, opened once at its start. */
export interface Platform {
  config: Config;
  log: Logger;
  database: TenantDatabase;
  system: SystemDatabase;
  notifications: Notifications;
  queue: OperationQueue;
  index: DatasetIndex;
  drivers: ReadonlyMap<string, Driver>;
  files: FileStore;
  secrets: SecretBox;
  /** Base of absolute links, without a trailing slash. */
  publicUrl: string;
}
