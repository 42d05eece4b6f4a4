import type { Column } from '../../../core/fields.ts';
import type { BoundQuery, DetectedFile, QueryResult, Segment, SourceTable } from '../../../core/row-source.ts';
import type { RowCounter } from '../csv-encoder.ts';

/** Where the columns of a config are from: a user declares them, or the former file was read with them. */
export type ColumnsFrom = 'user' | 'former';

/** Reader of one kind of file, inside the query process. It serves the tasks on one file with one config. */
export interface FileEngine {
  /**
   * Returns the version of the reader, and warnings for users. Throws BAD_USER_INPUT for a file that cannot be read.
   */
  inspect(): Promise<{ version: string; warnings: string[] }>;
  tables(): Promise<SourceTable[]>;
  /** Implements `RowSource.describe`. */
  describe(query: BoundQuery, provisional: boolean): Promise<Column[]>;
  /** Returns at most `limit` rows. */
  rows(query: BoundQuery, limit: number): Promise<Omit<QueryResult, 'duration'>>;
  /** Counts the rows. Data that exceeds the memory may be written to `dir`. */
  count(query: BoundQuery, dir: string): Promise<number>;
  /**
   * Yields all rows as segments in `dir`. The next one is begun when it is requested. `columns` is the result of
   * `describe` for the same query, if it was called. `counter` counts the rows as they are read. Throws
   * `ColumnsChanged` when the rows contradict provisional columns.
   */
  segments(query: BoundQuery, dir: string, columns: Column[] | undefined, counter: RowCounter): AsyncIterable<Segment>;
  /** Implements `UploadedSource.detectConfig`. The engine was opened with the given settings as config. */
  detectConfig(filename: string, columnsFrom?: ColumnsFrom): Promise<DetectedFile | null>;
}

/** Opens a file with a datasource's config. The module of an engine exports it as `openEngine`. */
export type OpenEngine = (file: string, config: Record<string, unknown>) => FileEngine;

/** A task for a query process, and the type of its result. */
export type Work =
  | { kind: 'inspect' }
  | { kind: 'tables' }
  | { kind: 'describe'; query: BoundQuery; provisional: boolean }
  | { kind: 'rows'; query: BoundQuery; limit: number }
  | { kind: 'count'; query: BoundQuery; dir: string }
  | { kind: 'segments'; query: BoundQuery; dir: string; columns?: Column[] }
  | { kind: 'detectConfig'; filename: string; columnsFrom: ColumnsFrom };

export interface Job {
  engine: 'sqlite' | 'file';
  /** Path of the uploaded file. */
  file: string;
  config: Record<string, unknown>;
  work: Work;
}

/**
 * `prepare`: load what most tasks need, before a task is known. `taken`: the reader has processed a segment, there is
 * space for another.
 */
export type ToProcess = { kind: 'prepare' } | { kind: 'do'; job: Job } | { kind: 'taken' };

export type FromProcess =
  | { kind: 'result'; value: unknown }
  | { kind: 'segment'; segment: Segment }
  /** Number of rows that have been read, and their bytes as CSV. */
  | { kind: 'rows'; rows: number; bytes: number }
  /** The rows contradict the provisional columns and have these columns. */
  | { kind: 'columns-changed'; columns: Column[] }
  /** Errors for the client: BAD_USER_INPUT and UNAVAILABLE. */
  | { kind: 'refused'; message: string }
  | { kind: 'unavailable'; message: string }
  /** An unexpected error. */
  | { kind: 'broken'; message: string };
