import type { EntityManager } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Query } from './database.ts';
import type { DatasetIndex } from './dataset-index.ts';
import type { FileStore } from './files.ts';
import type { QueuedWork } from './operations.ts';
import type { Driver } from './row-source.ts';

/** What a unit of work did to one row. Of an update, `fields` are those that got another value, and `before` holds what they were. */
export interface RowChange {
  type: 'create' | 'update' | 'delete';
  row: object;
  fields: readonly string[];
  before: Readonly<Record<string, unknown>>;
}

/** A transaction in one tenant: the unit of work and single statements, on one connection. */
export interface Transaction {
  em: EntityManager;
  query: Query;
  /** What the unit of work has written so far, a change for each row; single statements are not among it. */
  changes(): readonly RowChange[];
}

/** The tenants' rows. Every statement and transaction runs in the tenant it names. */
export interface TenantDatabase {
  query<R extends Record<string, unknown>>(tenantId: string, statement: Parameters<Query>[0]): Promise<R[]>;
  transaction<T>(tenantId: string, work: (tx: Transaction) => Promise<T>): Promise<T>;
}

/** Rows across tenants, for what precedes or crosses one. Few files may use it. */
export interface SystemDatabase {
  query: Query;
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
}

/** Notifications from Postgres: ids only, whoever hears one reads the row again. */
export interface Notifications {
  readonly connected: boolean;
  on(channel: string, heard: (payload: string) => void): () => void;
  /** Lets this process hear at once what Postgres tells every process a moment later: whoever made a change sees it with their next request. */
  notifyLocally(channel: string, payload: string): void;
  onResync(heard: () => void): () => void;
}

/** The queue of long operations. */
export interface OperationQueue {
  /** Hands a piece of work to some worker, in the transaction of the change that asked for it. Sending what waits already does nothing. */
  send(work: QueuedWork, tx: { query: Query }): Promise<void>;
}

/** Encrypts what is kept secret at rest; texts carry the key they were made with. */
export interface SecretBox {
  seal(plain: string): string;
  open(sealed: string): string;
}

/** The outside world of one process, made once at its start. */
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
