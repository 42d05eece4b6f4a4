import type { CriteriaNode } from './criteria/tree.ts';
import type { Caller } from './fair-gate.ts';
import type { Column, Field, FieldFormat, FieldType } from './fields.ts';
import type { FlowStep } from './flow/flow.ts';
import type { Segment } from './row-source.ts';

/** The id of one immutable set of rows. A UUID. */
export type GenerationId = string;

/** A field with its physical column (`c0` … `cN`). */
export interface IndexedField {
  name: string;
  type: FieldType;
  format?: FieldFormat;
  column: string;
  /** Set for decimals whose order is exact in Elasticsearch, too. Generations of earlier versions lack it. */
  keyed?: true;
  /** Set for flagged integers whose sums are exact in Elasticsearch at any number of values. Earlier ones lack it. */
  split?: true;
  /** See `Field.vanished`. */
  vanished?: true;
}

/** The metadata that an index requires to read a generation. Postgres stores it; callers pass it with every read. */
export interface Generation {
  id: GenerationId;
  fields: IndexedField[];
  records: number;
  /** Bytes in the index. */
  size: number;
  /** Changes to values during the load, e.g. NaN that became null. */
  warnings: string[];
}

/** The options for loading rows as a generation. */
export interface LoadPlan {
  flow: FlowStep[];
  /**
   * For `syncFields=false`: the fields of the generation. New columns are left out; vanished ones are null in every
   * row.
   */
  keepFields?: Field[];
  /**
   * For `updateTypeMapping=false`: the fields whose type must not change. A value that does not fit fails the load with
   * `search-index mapping conflict`, the field and the value.
   */
  keepTypes?: Field[];
  /** Whether a search engine refreshes its index only once, after the load. Default true. */
  disableRefreshInterval?: boolean;
  /** Maximum number of rows, 0 for unlimited. The load fails past it. */
  maxRows: number;
  /** Reports the number of rows read so far, about ten times a second at most. */
  progress(rows: number): void;
  /** Reports which share of the rows is stored, 0 to 1, where the index stores them after all have been read. */
  stored?(share: number): void;
  signal: AbortSignal;
}

/** A selection of rows. The caller has checked that the viewer sees all fields it names, except those in `visible`. */
export interface Search {
  generation: Generation;
  /** The user whose share of the index the search occupies. */
  caller: Caller;
  /**
   * Criteria of the rows that the viewer sees; without them all. An index evaluates everything else only for these
   * rows, where it can, so that the time of a search reveals nothing about hidden rows.
   */
  visible?: CriteriaNode;
  /** Criteria of the rows to find among them. */
  where: CriteriaNode;
  /** Normalised words of `q` (src/core/search-words.ts); empty matches all rows. */
  words: string[];
  /** Names of the fields in which `words` are searched: the visible string and text fields. */
  wordFields: string[];
}

export interface RowSearch extends Search {
  /** Names of the fields to return, in order. */
  fields: string[];
  /** Ties are sorted by row number, so that the order is total. Missing values come last in both directions. */
  sort: { field: string; descending: boolean }[];
  limit: number;
  start: number;
  /** Cursor: the `next` of an earlier page. */
  after?: string;
  /** Whether to count all matching rows. */
  total: boolean;
}

/**
 * A row, with values in their JSON forms: dates `YYYY-MM-DD`, datetimes ISO 8601 in UTC with milliseconds, fields with
 * a format as exact strings, json parsed.
 */
export type Row = Record<string, unknown>;

export interface Page {
  rows: Row[];
  total?: number;
  /** Opaque cursor of the next page; null on the last page. */
  next: string | null;
}

/** An aggregation: rows in groups, with measures of each group. See docs/contract/datasets.md#aggregate. */
export interface Aggregation extends Search {
  groupBy: {
    field: string;
    interval?: 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year';
    timezone?: string;
  }[];
  measures: { fn: 'count' | 'sum' | 'avg' | 'min' | 'max' | 'countDistinct'; field?: string; as: string }[];
  /** `column` is the field of a group or the `as` of a measure. */
  sort: { column: string; descending: boolean }[];
  limit: number;
}

export interface AggregateResult {
  /** A column with a format has exact strings, like a field. */
  columns: { name: string; label: string; type: FieldType; format?: FieldFormat }[];
  rows: unknown[][];
  /** Number of all groups. */
  total: number;
  truncated: boolean;
}

/**
 * Statistics of one field over the matching rows. A statistic that does not fit the type is null. See
 * docs/contract/datasets.md#discover.
 */
export interface FieldProfile {
  name: string;
  type: FieldType;
  count: number;
  missing: number;
  distinct: number;
  /** Whether `distinct` is an estimate, as it may be past 10,000. */
  approximate: boolean;
  min: unknown;
  max: unknown;
  avg: number | null;
  /** Population standard deviation. */
  stdDev: number | null;
  top: { value: unknown; count: number }[];
  histogram: { from: unknown; to: unknown; count: number }[];
}

/** The store of dataset rows. Every adapter passes the contract suite in test/dataset-index/. */
export interface DatasetIndex {
  /** Loads segments as a new generation. */
  load(id: GenerationId, columns: Column[], segments: AsyncIterable<Segment>, plan: LoadPlan): Promise<Generation>;
  /** Copies a generation, at a cost that does not depend on the number of rows. */
  clone(generation: Generation, id: GenerationId): Promise<Generation>;
  drop(id: GenerationId): Promise<void>;
  search(search: RowSearch, signal: AbortSignal): Promise<Page>;
  aggregate(aggregation: Aggregation, signal: AbortSignal): Promise<AggregateResult>;
  profile(search: Search, fields: string[], signal: AbortSignal): Promise<{ total: number; fields: FieldProfile[] }>;
  /** Yields all matching rows in batches, in constant memory. */
  scan(search: Omit<RowSearch, 'limit' | 'start' | 'after' | 'total'>, signal: AbortSignal): AsyncIterable<Row[]>;
  /**
   * Builds the word index of all string and text fields, so that the first `q` is fast. Optional; called after
   * publishing.
   */
  prepareWords(generation: Generation, signal: AbortSignal): Promise<void>;
  /** Returns the ids of all generations in the index, complete or not, for the janitor. */
  generations(): Promise<{ id: GenerationId; complete: boolean }[]>;
  /** Throws `unavailable` when the index does not respond. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
