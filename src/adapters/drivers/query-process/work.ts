import type { Column } from '../../../core/fields.ts';
import type { BoundQuery, QueryResult, Segment, SourceTable } from '../../../core/row-source.ts';

/** What reads one kind of file, inside the query process. It is opened for one piece of work and ends with the process. */
export interface FileEngine {
  /** What the file is read with, and what people should know of it. @throws badInput for a file that cannot be read. */
  inspect(): Promise<{ version: string; warnings: string[] }>;
  tables(): Promise<SourceTable[]>;
  describe(query: BoundQuery): Promise<Column[]>;
  /** At most `limit` rows. */
  rows(query: BoundQuery, limit: number): Promise<Omit<QueryResult, 'duration'>>;
  /** How many rows there are. What does not fit the memory may go to `dir`. */
  count(query: BoundQuery, dir: string): Promise<number>;
  /** All rows, as segments in `dir`; the next one is begun when it is asked for. `columns` is what `describe` said of the same query, where it was asked. */
  segments(query: BoundQuery, dir: string, columns?: Column[]): AsyncIterable<Segment>;
  /** The config of a datasource of this file, for `UploadedSource.recognise`. */
  recognise(filename: string): Promise<Record<string, unknown> | null>;
}

/** Opens a file with a datasource's config; a module of an engine exports it as `openEngine`. */
export type OpenEngine = (file: string, config: Record<string, unknown>) => FileEngine;

/** One piece of work for a query process, and by its kind what it answers. */
export type Work =
  | { kind: 'inspect' }
  | { kind: 'tables' }
  | { kind: 'describe'; query: BoundQuery }
  | { kind: 'rows'; query: BoundQuery; limit: number }
  | { kind: 'count'; query: BoundQuery; dir: string }
  | { kind: 'segments'; query: BoundQuery; dir: string; columns?: Column[] }
  | { kind: 'recognise'; filename: string };

export interface Job {
  engine: 'sqlite' | 'file';
  /** Path of the uploaded file. */
  file: string;
  config: Record<string, unknown>;
  work: Work;
}

/** `taken`: the reader has taken a segment, there is room for another. */
export type ToProcess = { kind: 'do'; job: Job } | { kind: 'taken' };

export type FromProcess =
  | { kind: 'answer'; value: unknown }
  | { kind: 'segment'; segment: Segment }
  /** A complaint for the client. */
  | { kind: 'refused'; message: string }
  /** What nobody foresaw. */
  | { kind: 'broken'; message: string };
