import type { Column, Field } from './fields.ts';
import type { ParameterValue } from './parameters.ts';

/**
 * A query ready to run: its text with `{{name}}` placeholders, and the value of each. Values are bound as parameters of
 * the statement; they never become part of its text.
 */
export interface BoundQuery {
  text: string;
  parameters: { name: string; dataType: 'string' | 'number' | 'date' | 'boolean'; value: ParameterValue }[];
  /** Statement timeout in the source, in milliseconds. */
  timeout: number;
}

/**
 * A file of whole records in the one CSV dialect: comma, `"` doubled inside quotes, `\N` unquoted for null, `\n` after
 * every record, no header, UTF-8; timestamps ISO 8601 in UTC, booleans `t`/`f` or `true`/`false`. Or, with `table`, all
 * rows in a DuckDB file: its table `data` has the columns `c0` … `cN` in the types of their storage, timestamps in whole
 * milliseconds.
 */
export interface Segment {
  path: string;
  rows: number;
  /** Bytes as CSV; an estimate for a table. */
  bytes: number;
  /** Size of the longest record in bytes, for readers that allocate their line buffer up front. */
  longestRow: number;
  /** Whether the reader deletes the file after reading it. */
  temporary: boolean;
  /** Set if the file is a table. Then it is the only segment of its query. */
  table?: true;
}

/** The methods of a source that a refresh requires. */
interface RowSource {
  /**
   * Returns the columns of the result. The source parses the query but does not run it, unless types depend on the
   * values. With `provisional`, before a load, the first rows are enough for them: `segments` then throws
   * `ColumnsChanged` when later rows contradict them, and is called again.
   */
  describe(query: BoundQuery, signal: AbortSignal, options?: { provisional: boolean }): Promise<Column[]>;
  /**
   * Runs the query read-only and writes its rows as segments into `dir`. Applies back-pressure: at most two segments
   * wait for the reader. Aborting cancels the statement in the source. `onRows` receives the number of rows that have
   * arrived, at least once a second while rows arrive. `onEstimate` receives an estimate of all rows, where the source
   * has one at little cost.
   */
  segments(
    query: BoundQuery,
    dir: string,
    signal: AbortSignal,
    onRows?: (rows: number) => void,
    onEstimate?: (rows: number) => void,
  ): AsyncIterable<Segment>;
}

/** A table or view of a source. */
export interface SourceTable {
  schema: string;
  name: string;
  type: 'table' | 'view';
  columns: { name: string; type: string; nullable: boolean; primaryKey: boolean }[];
}

/** Result of a connection test: latency in milliseconds, warnings such as a role that can write. */
export interface ConnectionTest {
  ok: boolean;
  latency: number;
  version: string | null;
  warnings: string[];
  message: string | null;
}

/** Result of an interactive query: at most `limit` rows, in the JSON forms of `Field.type`. */
export interface QueryResult {
  fields: Field[];
  rows: Record<string, unknown>[];
  truncated: boolean;
  /** Milliseconds. */
  duration: number;
}

/** An open connection to one source. Must be closed by the code that opened it. */
export interface SourceConnection extends RowSource {
  test(signal: AbortSignal): Promise<ConnectionTest>;
  schema(signal: AbortSignal): Promise<SourceTable[]>;
  query(query: BoundQuery, limit: number, signal: AbortSignal): Promise<QueryResult>;
  /** Runs the query read-only and counts its rows in the source. Aborting cancels the statement in the source. */
  count(query: BoundQuery, signal: AbortSignal): Promise<number>;
  close(): Promise<void>;
}

/** A place of a file that cannot be read, or can be read in several ways. */
export interface FileProblem {
  /** Number of the line, from 1. */
  line?: number;
  /** Name of the column. */
  column?: string;
  message: string;
}

/** The result of a driver's detection in a file: the `config` of a datasource for it, and questions for the user. */
export interface DetectedFile {
  config: Record<string, unknown>;
  problems: FileProblem[];
}

/**
 * A file that becomes the file of a datasource: its id in the file store, the id of the driver that reads it, and its
 * config.
 */
export interface NewFile extends DetectedFile {
  id: string;
  type: string;
}

/** Extension of a driver whose sources are uploaded files. */
interface UploadedSource {
  /**
   * Detects whether the driver can read a file, and how. Returns null if it cannot. The
   * content decides; the file name only distinguishes text formats. Settings in `given` are used as they are, and the
   * others are detected with them. Throws `badInput` with the position of the error for a broken file of a supported
   * type. `former` are the settings of the file that this one replaces. They are used where `given` has none and the
   * file is of the same format.
   */
  detectConfig(
    path: string,
    filename: string,
    signal: AbortSignal,
    given?: Record<string, unknown>,
    former?: Record<string, unknown>,
  ): Promise<DetectedFile | null>;
  /** Returns the query that selects all rows of a single-table file, null if the user must choose a table. */
  defaultQuery(config: Record<string, unknown>): string | null;
}

/**
 * A type of datasource. Its connections throw `badInput` with the source's message for an invalid query, and
 * `upstreamFailed` for an unreachable source.
 */
export interface Driver {
  id: string;
  name: string;
  defaultPort: number | null;
  features: string[];
  /** JSON Schema of a datasource's `config`. */
  configSchema: Record<string, unknown>;
  /** JSON Schema of a datasource's `secrets`. */
  secretsSchema: Record<string, unknown>;
  /** Present if the sources are uploaded files, not servers. */
  upload?: UploadedSource;
  /**
   * Present if the service itself knows where the sources of this type are. Returns the `config` and `secrets` that
   * `connect` takes, from the config of a datasource of a tenant.
   */
  locate?(
    config: Record<string, unknown>,
    tenantId: string,
  ): Promise<{ config: Record<string, unknown>; secrets: Record<string, string> }>;
  /** Opens a connection. `file` is the path of the uploaded file, null for servers. */
  connect(config: Record<string, unknown>, secrets: Record<string, string>, file: string | null): SourceConnection;
}
