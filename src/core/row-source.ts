import type { Column, Field } from './fields.ts';
import type { ParameterValue } from './parameters.ts';

/** A query ready to run: its text still with `{{name}}` placeholders, and the effective value of each. Values are bound, never pasted. */
export interface BoundQuery {
  text: string;
  parameters: { name: string; dataType: 'string' | 'number' | 'date' | 'boolean'; value: ParameterValue }[];
  /** Milliseconds after which the source must have given up. */
  timeout: number;
}

/**
 * A file of whole records in the one CSV dialect: comma, `"` doubled inside quotes, `\N` unquoted for null, `\n` after every record, no header,
 * UTF-8; timestamps ISO in UTC, booleans `t`/`f` or `true`/`false`.
 */
export interface Segment {
  path: string;
  rows: number;
  bytes: number;
  /** Bytes of the longest record, for readers that must be told. */
  longestRow: number;
  /** Whether the reader deletes the file when it is done with it. */
  temporary: boolean;
}

/** What a refresh needs of a source. */
export interface RowSource {
  /** The columns of the answer. The query is parsed by the source, not run. */
  describe(query: BoundQuery, signal: AbortSignal): Promise<Column[]>;
  /** Runs the query read-only and writes its rows as segments into `dir`, with back-pressure: at most two segments wait for the reader. Aborting cancels the statement in the source. */
  segments(query: BoundQuery, dir: string, signal: AbortSignal): AsyncIterable<Segment>;
}

/** A table or view of a source. */
export interface SourceTable {
  schema: string;
  name: string;
  type: 'table' | 'view';
  columns: { name: string; type: string; nullable: boolean; primaryKey: boolean }[];
}

/** Answer of a connection test: latency in milliseconds, warnings such as a role that can write. */
export interface ConnectionTest {
  ok: boolean;
  latency: number;
  version: string | null;
  warnings: string[];
  message: string | null;
}

/** A small result for people: at most `limit` rows, in the JSON forms of `Field.type`. */
export interface QueryResult {
  fields: Field[];
  rows: Record<string, unknown>[];
  truncated: boolean;
  /** Milliseconds. */
  duration: number;
}

/** An open door to one source. Every door is closed by who opened it. */
export interface SourceConnection extends RowSource {
  test(signal: AbortSignal): Promise<ConnectionTest>;
  schema(signal: AbortSignal): Promise<SourceTable[]>;
  query(query: BoundQuery, limit: number, signal: AbortSignal): Promise<QueryResult>;
  /** Has the source run the query read-only and count its rows, none of which leaves it. Aborting cancels the statement in the source. */
  count(query: BoundQuery, signal: AbortSignal): Promise<number>;
  close(): Promise<void>;
}

/** What a driver whose sources are uploaded files says of a file. */
export interface UploadedSource {
  /**
   * Looks at what was uploaded: the `config` of a datasource of it, or null where it is none of this driver's kinds. The content decides; the name only
   * between kinds of text. A file of its kind that is broken is `badInput` and says where.
   */
  recognise(path: string, filename: string, signal: AbortSignal): Promise<Record<string, unknown> | null>;
  /** The query whose rows are the file's, for files that are one table; null where somebody must choose a table. */
  wholeQuery(config: Record<string, unknown>): string | null;
}

/** A kind of source. A complaint about the SQL is thrown as `badInput` with the source's message, an unreachable source as `upstreamFailed`. */
export interface Driver {
  id: string;
  name: string;
  defaultPort: number | null;
  features: string[];
  /** JSON Schema of a datasource's `config`. */
  configSchema: Record<string, unknown>;
  /** JSON Schema of its `secrets`. */
  secretsSchema: Record<string, unknown>;
  /** Present where a source is an uploaded file, never a server. */
  upload?: UploadedSource;
  /** `file` is the path of the uploaded file; null for servers. */
  connect(config: Record<string, unknown>, secrets: Record<string, string>, file: string | null): SourceConnection;
}
