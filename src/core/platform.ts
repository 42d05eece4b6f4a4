import type { DocumentNode, GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import type { AiClient } from './ai.ts';
import type { AppWorkspaces } from './app-workspace.ts';
import type { Config } from './config.ts';
import type { Query, Statement } from './database.ts';
import type { DatasetIndex } from './dataset-index.ts';
import type { Drive } from './drive.ts';
import type { FileStore } from './files.ts';
import type { InternalApi } from './internal-api.ts';
import type { LicenseManager } from './license-manager.ts';
import type { McpClient } from './mcp.ts';
import type { OperationEnds } from './operation-ends.ts';
import type { QueuedWork } from './operations.ts';
import type { OutboundClient } from './outbound.ts';
import type { PdfPrinter } from './pdf-printer.ts';
import type { Condition } from './read/condition.ts';
import type { Driver } from './row-source.ts';
import type { Sandbox } from './sandbox.ts';
import type { SchemaChange } from './schema-changes.ts';
import type { TemplateEngine } from './template-engine.ts';
import type { TransferBelongings } from './user-belongings.ts';
import type { Viewer } from './viewer.ts';

/** The common columns of all rows of a tenant. */
export interface StoredRow {
  /** UUID, version 7. */
  id: string;
  tenantId: string;
  /** Number of the revision, from 1 on. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

/**
 * A change of one row by a unit of work. For an update, `fields` names the changed fields and `before` contains their
 * former values.
 */
export interface RowChange {
  type: 'create' | 'update' | 'delete';
  row: StoredRow;
  fields: readonly string[];
  before: Readonly<Record<string, unknown>>;
}

/** The class of an entity whose rows belong to a tenant. */
export type RowClass<T extends StoredRow = StoredRow> = new () => T;

/** Selects the rows with these values, or those that satisfy a condition. Values are dates, text, numbers or booleans. */
export type RowFilter<T> = Partial<T> | Condition;

/** Options of `Transaction.find`. */
export interface FindOptions<T> {
  /** Fields to sort by, ascending. */
  orderBy?: readonly (keyof T & string)[];
  /**
   * Locks the rows until the transaction ends: for an `update`, against every change by others, or as a `key share`
   * with other readers, against their deletion.
   */
  lock?: 'update' | 'key share';
}

/** A stored field of an entity. */
export interface RowField {
  name: string;
  nullable: boolean;
  /** Whether `find` does not load it, as it is a secret. */
  lazy: boolean;
}

/**
 * A transaction in one tenant: a unit of work and single statements on one connection.
 *
 * The unit of work writes inserted, changed and removed rows before the next statement and before the commit, in this
 * order. Remove a row and call `flush` before you insert one with the same unique key. It writes a loaded row if its
 * values differ from the stored ones; undefined does not count as a change. A row that another transaction has deleted
 * since it was loaded is a `LostRace`. Nothing checks that it has not changed since then. So load rows to change with a
 * lock, or lock their parent. Statements of one tick, and the writes before them, take one round trip
 * (docs/architecture.md#transactions).
 */
export interface Transaction {
  /** Whether the work runs again after `LostRace`. */
  readonly isRetry: boolean;
  /** Runs a statement. Await it: its error is not reported elsewhere. */
  query: Query;
  /** Runs a statement with the next one or the commit. Its rows are ignored; its error fails the transaction. */
  execute(statement: Statement): void;
  /** Returns rows of the tenant. A row that is found twice is the same object. Lazy fields are not loaded. */
  find<T extends StoredRow>(type: RowClass<T>, where: RowFilter<T>, options?: FindOptions<T>): Promise<T[]>;
  /**
   * Returns the first row that `find` returns, or null. Without a lock, a row that was found before takes no statement
   * by its id, and has the values of that time.
   */
  findOne<T extends StoredRow>(type: RowClass<T>, where: RowFilter<T>, options?: FindOptions<T>): Promise<T | null>;
  /** Returns the number of rows. */
  count<T extends StoredRow>(type: RowClass<T>, where: RowFilter<T>): Promise<number>;
  /** Inserts a row with the values that it has when it is written. Returns the row. */
  insert<T extends StoredRow>(row: T): T;
  /** Writes values of a found row, but leaves them out of `changes`, because the caller records the activity itself. */
  writeUnrecorded<T extends StoredRow>(row: T, values: Partial<T>): void;
  /** Deletes a row that was found. */
  remove(row: StoredRow): void;
  /**
   * Replaces the error of a row that violates a unique index or constraint. `errorOf` takes its name; null keeps the
   * error.
   */
  onDuplicate(row: StoredRow, errorOf: (index: string) => Error | null): void;
  /**
   * Writes pending changes with the next statement, before later changes. Every statement does so, too. Changes within
   * a JSON value that was not replaced are written with the commit.
   */
  flush(): void;
  /** Returns the changes of the unit of work so far, one per row. Single statements are not included. */
  changes(): readonly RowChange[];
  /** Returns the stored fields of an entity. */
  fieldsOf(type: RowClass): readonly RowField[];
}

/** Access to the rows of one tenant at a time: each statement and transaction sees only the tenant that it names. */
export interface TenantDatabase {
  query<R extends Record<string, unknown>>(tenantId: string, statement: Parameters<Query>[0]): Promise<R[]>;
  /** Runs `work` in a transaction, and again if it fails with `LostRace`. Throws UNAVAILABLE if that does not help. */
  transaction<T>(tenantId: string, work: (tx: Transaction) => Promise<T>): Promise<T>;
}

/** Access to the rows of all tenants, e.g. to find the tenant of a login. Few files may use it. */
export interface SystemDatabase {
  query: Query;
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
}

/** A `SystemDatabase` with locks that outlast transactions. */
export interface LockingDatabase extends SystemDatabase {
  /**
   * Runs work under an advisory lock outside of transactions, unless another process has the lock. Its signal aborts when
   * the lock is lost with its connection. Returns whether the work ran.
   */
  runExclusively(lock: number, work: (signal: AbortSignal) => Promise<void>): Promise<boolean>;
}

/** Notifications from Postgres. Payloads are ids only: a listener reads the row again. */
interface Notifications {
  readonly connected: boolean;
  /** Adds a listener. Returns the function that removes it. */
  on(channel: string, listener: (payload: string) => void): () => void;
  /**
   * Notifies the listeners of this process immediately. Postgres notifies all processes a moment later. So the caller
   * of a change sees it with the next request.
   */
  notifyLocally(channel: string, payload: string): void;
  /** Adds a listener for reconnects, after which notifications may be missing. Returns the function that removes it. */
  onResync(listener: () => void): () => void;
}

/** The queue of long operations. */
export interface OperationQueue {
  /**
   * Queues work items in the transaction of the change that requests them. Leaves out items that are already queued.
   */
  send(work: readonly QueuedWork[], tx: { query: Query }): Promise<void>;
}

/** Encrypts secrets at rest. A sealed text names the key that opens it. */
export interface SecretBox {
  /** Returns a digest that reveals nothing about the text without the key, not even to those who guess it. */
  digest(text: string): string;
  /** Fingerprint of the newest key, under which everything is sealed. */
  readonly fingerprint: string;
  /** Fingerprints of all keys, newest first. */
  readonly fingerprints: readonly string[];
  /** Seals a text. Where it is stored must be one of `SEALED_COLUMNS`, or expire by itself. */
  seal(plain: string): string;
  /**
   * Opens a sealed text. `what` names it for the owner of the resource, e.g. `the secrets of datasource "Shop"`. Throws
   * CONFLICT with it if the key is not in `APP_SECRET`, or the text is damaged.
   */
  open(sealed: string, what: string): string;
  /** Seals bytes, like `seal`. */
  sealBytes(plain: Uint8Array): Buffer;
  /** Opens sealed bytes, like `open`. */
  openBytes(sealed: Uint8Array, what: string): Buffer;
}

/** Validates documents of GraphQL against the schema of the service. */
export interface DocumentValidator {
  /** Returns the errors of a document. A long one waits for its turn. Throws like `FairGate`. */
  validate(
    document: DocumentNode,
    caller: { viewer: Viewer | null; request: { address: string; signal: AbortSignal } },
  ): Promise<readonly GraphQLError[]>;
}

/** The changes from the schema of the service to another one, or why that is not valid. */
export type SchemaComparison = { changes: SchemaChange[] } | { invalid: string };

/** The outside systems of one process, opened once at its start. */
export interface Platform {
  config: Config;
  log: Logger;
  database: TenantDatabase;
  system: LockingDatabase;
  notifications: Notifications;
  queue: OperationQueue;
  operationEnds: OperationEnds;
  index: DatasetIndex;
  drivers: ReadonlyMap<string, Driver>;
  /** Providers of cloud drives by their id. */
  drives: ReadonlyMap<string, Drive>;
  files: FileStore;
  /** Returns the bytes that are free on the disk of `DATA_DIR`. */
  freeBytes(): Promise<number>;
  workspaces: AppWorkspaces;
  secrets: SecretBox;
  outbound: OutboundClient;
  ai: AiClient;
  mcp: McpClient;
  /** Null without `LICENSE_MANAGER_URL`. */
  licenseManager: LicenseManager | null;
  /** Null in a process without the HTTP API, and before it starts. */
  internalApi: InternalApi | null;
  /** Validates documents of GraphQL. Null in a process without the HTTP API, and before it starts. */
  documents: DocumentValidator | null;
  /** Compares schemas. Null like `documents`. */
  schemas: { compare(sdl: string): Promise<SchemaComparison> } | null;
  pdfPrinter: PdfPrinter;
  sandbox: Sandbox;
  /** Template engines by their id. */
  templateEngines: ReadonlyMap<string, TemplateEngine>;
  /** The belongings of an owner in each feature, to transfer when the owner is deleted. */
  belongings: readonly TransferBelongings[];
  /** Base of absolute links, without a trailing slash. */
  publicUrl: string;
}
