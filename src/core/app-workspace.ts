import { createHash } from 'node:crypto';

/** Identifies the workspace of an app. */
export interface WorkspaceKey {
  tenantId: string;
  appId: string;
  /** The user or team whose share of the connections its statements use. Default: the app. */
  ownerId?: string;
  /** The visitor who shares the connections of the owner with others. */
  visitorId?: string;
}

/** Name of the schema of an app. The role that reads and writes its rows has the same name. */
export const schemaNameOf = ({ tenantId, appId }: WorkspaceKey): string =>
  `app_${createHash('sha256').update(`${tenantId}:${appId}`).digest('hex').slice(0, 20)}`;

/** Returns whether a login of Postgres belongs to an app: its schema's name, for migrations with `_owner`. */
export const isLoginOfApp = (login: string): boolean => /^app_[0-9a-f]{20}(?:_owner)?$/.test(login);

/** Limits of one statement of an app. */
export const STATEMENT_LIMITS = { timeoutMs: 10_000, rows: 10_000, bytes: 16 * 1024 * 1024 } as const;

/** A row of a result: values in JSON. */
export type WorkspaceRow = Record<string, unknown>;

/** Runs one statement with parameters `$1` … and returns its rows. Throws `SqlFailure`. */
export type WorkspaceQuery = (sql: string, params?: readonly unknown[]) => Promise<WorkspaceRow[]>;

/** A statement that Postgres refused, or that exceeded a limit. */
export class SqlFailure extends Error {
  /** SQLSTATE, e.g. `23505`. */
  readonly code: string;
  /** Position of the error in the statement in characters, from 0; null if it is unknown. */
  readonly position: number | null;

  constructor(code: string, message: string, position: number | null = null) {
    super(message);
    this.name = 'SqlFailure';
    this.code = code;
    this.position = position;
  }
}

/** A migration of an app to run. */
export interface MigrationFile {
  /** Name without its folder, e.g. `001-orders.sql`. */
  filename: string;
  /** SHA-256 in hexadecimal. */
  checksum: string;
  read(): Promise<Uint8Array>;
}

/** A migration that has run. */
export interface AppliedMigration {
  filename: string;
  checksum: string;
  appliedAt: Date;
  /** Milliseconds. */
  duration: number;
}

export interface MigrationRun {
  /** Whether everything is undone at the end. */
  dryRun: boolean;
  signal: AbortSignal;
  /** Reports the number of files that have run. */
  onFile?(done: number): void;
}

/** A table of a workspace with the columns that a backup contains: all that are not generated. */
export interface WorkspaceTable {
  name: string;
  columns: string[];
}

/** The content of a workspace's backup in addition to the rows: the migrations that have run create the tables. */
export interface WorkspaceState {
  migrations: { filename: string; appliedAt: string; duration: number }[];
  tables: WorkspaceTable[];
  sequences: { name: string; lastValue: string; isCalled: boolean }[];
}

/** The content of a workspace at one moment. */
export interface WorkspaceDump {
  state: WorkspaceState;
  /** Yields the rows of a table in parts: whole lines in the text format of COPY. */
  rowsOf(table: WorkspaceTable): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Replaces the rows of a workspace. Nothing is visible before `finish`. */
export interface WorkspaceLoad {
  /** Inserts a part of the rows of a dump. */
  insert(table: WorkspaceTable, rows: AsyncIterable<Uint8Array>): Promise<void>;
  finish(): Promise<void>;
  /** Undoes everything, unless it is finished. */
  close(): Promise<void>;
}

/** A connection of a role of an app in the server. */
export interface RoleConnection {
  readonly role: string;
  /** Process id in the server. */
  readonly backend: number;
}

/** The facts about the workspaces that an operator needs. */
export interface WorkspaceInspection {
  database: string;
  /** Whether that database exists: the first workspace creates it. */
  exists: boolean;
  /** The login of the service. */
  login: {
    name: string;
    isSuperuser: boolean;
    mayCreateDatabases: boolean;
    mayCreateRoles: boolean;
    /** Whether it may limit the temporary files of statements. */
    mayLimitTempFiles: boolean;
    /** Whether it may keep messages that apps raise out of the server's log. */
    mayLimitLog: boolean;
    /** Whether it owns the database of the apps, or may act as its owner; false without that database. */
    ownsDatabase: boolean;
  };
  /** Whether the service's own database is on the same server. */
  isShared: boolean;
  /** Schemas of the workspaces of this installation. */
  schemas: string[];
  /** Parts of Postgres' catalog in which apps can read the definitions of others. */
  openParts: string[];
}

/** The limits of the tables of an app. */
export interface TableLimit {
  /** Quota of all stored bytes of the app, past which it only reads; Infinity without a quota. */
  quota: number;
  /** Stored bytes of the app besides its tables. */
  others: number;
  /** Why it only reads, even within its quota, as a sentence; null if it may write. */
  refusal: string | null;
}

/** How statements of an app run. */
export interface StatementOptions {
  /** Longest wait for a connection, in milliseconds. */
  maxWaitMs?: number | undefined;
  /** Returns why the next statement only reads: a writing statement then fails with 25006. Null if it may write. */
  readOnlyReason?(): string | null;
}

/** Where a driver finds the workspace of an app. `secrets` contains the password of the role. */
export interface WorkspaceSource {
  config: Record<string, unknown>;
  secrets: Record<string, string>;
}

/**
 * The private schemas of apps, in a separate database (docs/contract/apps.md#workspace). Methods throw UNAVAILABLE if
 * that database does not respond, or if the service may not create the objects of an app.
 */
export interface AppWorkspaces {
  /** Creates the database, roles and schema of an app, as far as they are missing. */
  provision(key: WorkspaceKey): Promise<void>;
  /**
   * Returns the comment of the roles of an app if an installation in another database of the server uses them: roles are of
   * the whole server. Null otherwise.
   */
  otherUse(key: WorkspaceKey): Promise<string | null>;
  /**
   * Runs one statement in its own transaction. Throws `SqlFailure`, with the code 53100 for a statement that writes
   * past the quota of the app and 53200 for one that takes too much memory. Throws the signal's reason when it aborts,
   * and UNAVAILABLE if no connection is free in time.
   */
  query(
    key: WorkspaceKey,
    sql: string,
    params: readonly unknown[],
    signal: AbortSignal,
    options?: StatementOptions,
  ): Promise<WorkspaceRow[]>;
  /** Runs statements in one transaction, which is undone if `work` throws. Throws like `query`. */
  transaction<T>(
    key: WorkspaceKey,
    work: (query: WorkspaceQuery) => Promise<T>,
    signal: AbortSignal,
    options?: StatementOptions,
  ): Promise<T>;
  /**
   * Runs the files that have not run, in order, each in its own transaction. Returns their names. Throws BAD_USER_INPUT
   * before it runs anything for a file that ends its transaction, and UPSTREAM_FAILED with file and line for a file
   * that fails or lets the app grow past its quota; the files before it remain. Call `provision` first.
   */
  migrate(key: WorkspaceKey, files: readonly MigrationFile[], run: MigrationRun): Promise<string[]>;
  /** Returns the migrations that have run, by their names; none without a workspace. */
  appliedMigrations(key: WorkspaceKey): Promise<AppliedMigration[]>;
  /** Returns the bytes of the tables of an app with their indexes. Throws like `query`. */
  sizeOf(key: WorkspaceKey, signal: AbortSignal): Promise<number>;
  /** Returns where a driver reads the rows of an app. Throws UPSTREAM_FAILED without a workspace. */
  locate(key: WorkspaceKey): Promise<WorkspaceSource>;
  /**
   * Bounds the memory of a driver's connection, together with the statements of all apps. Throws `SqlFailure` with the
   * code 53200 if it was the largest and has ended.
   */
  watch<T>(connection: RoleConnection, running: () => Promise<T>): Promise<T>;
  /**
   * Opens the content of a workspace, whatever policies its tables have. No code of the app runs. Throws `SqlFailure`
   * for a table that cannot be read, and the signal's reason when it aborts.
   */
  dump(key: WorkspaceKey, signal: AbortSignal): Promise<WorkspaceDump>;
  /**
   * Begins to replace the rows of a workspace, whose migrations have run, by the rows of a dump. Throws like `dump`.
   */
  load(key: WorkspaceKey, state: WorkspaceState, signal: AbortSignal): Promise<WorkspaceLoad>;
  /** Deletes the workspace of an app with its roles and rows, and ends the statements that run there. */
  remove(key: WorkspaceKey): Promise<void>;
  /** Deletes the workspaces of this installation except those that `usedAmong` returns. Returns their schemas. */
  sweep(usedAmong: (schemas: string[]) => Promise<string[]>): Promise<string[]>;
  /** Returns the state of the workspaces, and changes nothing. */
  inspect(): Promise<WorkspaceInspection>;
  close(): Promise<void>;
}
