import type { CriteriaNode } from './criteria/tree.ts';
import type { Column, Field, FieldFormat, FieldType } from './fields.ts';
import type { FlowStep } from './flow/flow.ts';
import type { Segment } from './row-source.ts';

/** Names one immutable set of rows. A UUID. */
export type GenerationId = string;

/** A field with the physical column that holds it (`c0` … `cN`). */
export interface IndexedField {
  name: string;
  type: FieldType;
  format?: FieldFormat;
  column: string;
  /** See `Field`. */
  vanished?: true;
}

/** All that an index must know of a generation to read it: Postgres keeps it, the index never looks it up. */
export interface Generation {
  id: GenerationId;
  fields: IndexedField[];
  records: number;
  /** Bytes the generation takes in the index. */
  size: number;
  /** What the load changed silently elsewhere, e.g. NaN that became null. */
  warnings: string[];
}

/** How rows become a generation. */
export interface LoadPlan {
  flow: FlowStep[];
  /** `syncFields=false`: exactly these fields; new columns are left out, vanished ones are all null. */
  keepFields?: Field[];
  /** `updateTypeMapping=false`: fields of these names keep their type; a value that does not fit fails the load with `search-index mapping conflict` naming field and value. */
  keepTypes?: Field[];
  /** `false`: a search engine goes on refreshing what it searches while the rows come in. By default it does so once, at the end. */
  disableRefreshInterval?: boolean;
  /** 0 is unlimited. Past it the load fails and says so. */
  maxRows: number;
  /** Rows taken in so far, called at most about ten times a second. */
  progress(rows: number): void;
  signal: AbortSignal;
}

/** What to find. `where` and `fields` are already restricted to what the caller may see; nothing else widens them. */
export interface Search {
  generation: Generation;
  where: CriteriaNode;
  /** Normalised words of `q` (core/words.ts); empty matches all. */
  words: string[];
  /** Names of the fields that `words` look at: the visible string and text fields. */
  wordFields: string[];
  /** Rows that `where` leaves out are hidden from the caller: where the index can, it looks for words in the others alone, so that the time it takes does not tell of these. */
  partial?: boolean;
}

export interface RowSearch extends Search {
  /** Names, in the order wanted. */
  fields: string[];
  /** Ties are broken by the row's number, so that the order is total. Missing values come last in both directions. */
  sort: { field: string; descending: boolean }[];
  limit: number;
  start: number;
  /** An earlier page's `next`. */
  after?: string;
  /** Count matches only when asked. */
  total: boolean;
}

/** Values in their JSON forms: dates `YYYY-MM-DD`, datetimes ISO UTC with milliseconds, flagged fields exact strings, json parsed. */
export type Row = Record<string, unknown>;

export interface Page {
  rows: Row[];
  total?: number;
  /** Opaque; null when there is nothing further. */
  next: string | null;
}

/** A grouped question (contract 7, `_aggregate`). */
export interface Aggregation extends Search {
  groupBy: {
    field: string;
    interval?: 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year';
    timezone?: string;
  }[];
  measures: { fn: 'count' | 'sum' | 'avg' | 'min' | 'max' | 'countDistinct'; field?: string; as: string }[];
  /** By a column's name: a group's field or a measure's `as`. */
  sort: { column: string; descending: boolean }[];
  limit: number;
}

export interface AggregateResult {
  columns: { name: string; label: string; type: FieldType }[];
  rows: unknown[][];
  /** Number of groups altogether. */
  total: number;
  truncated: boolean;
}

/** Statistics of one field over the matching rows (contract 7, `discover`). Keys that make no sense for the type are null. */
export interface FieldProfile {
  name: string;
  type: FieldType;
  count: number;
  missing: number;
  distinct: number;
  /** True when `distinct` is an estimate (past 10,000). */
  approximate: boolean;
  min: unknown;
  max: unknown;
  avg: number | null;
  /** Of the population. */
  stdDev: number | null;
  top: { value: unknown; count: number }[];
  histogram: { from: unknown; to: unknown; count: number }[];
}

/** Where dataset rows live. Every adapter passes the contract suite in test/dataset-index/. */
export interface DatasetIndex {
  load(id: GenerationId, columns: Column[], segments: AsyncIterable<Segment>, plan: LoadPlan): Promise<Generation>;
  /** At a cost independent of the rows. */
  clone(generation: Generation, id: GenerationId): Promise<Generation>;
  drop(id: GenerationId): Promise<void>;
  search(search: RowSearch, signal: AbortSignal): Promise<Page>;
  aggregate(aggregation: Aggregation, signal: AbortSignal): Promise<AggregateResult>;
  profile(search: Search, fields: string[], signal: AbortSignal): Promise<{ total: number; fields: FieldProfile[] }>;
  /** All matching rows in batches, for exports: constant memory. */
  scan(search: Omit<RowSearch, 'limit' | 'start' | 'after' | 'total'>, signal: AbortSignal): AsyncIterable<Row[]>;
  /** Makes the first `q` over all string and text fields as quick as later ones. Called after publishing; nothing depends on it. */
  prepareWords(generation: Generation, signal: AbortSignal): Promise<void>;
  /** Ids that exist in the index, finished or half made, for the janitor. */
  generations(): Promise<{ id: GenerationId; complete: boolean }[]>;
  /** Throws `unavailable` when the index does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
