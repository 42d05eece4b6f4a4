import type { IndexLocation } from '../adapters/dataset-index/open-index.ts';
import type { DatabaseIdentity } from '../adapters/drivers/source-guard.ts';
import type { Generation, GenerationId, LoadPlan } from '../core/dataset-index.ts';
import type { Column } from '../core/fields.ts';
import type { OperationFailure } from '../core/operations.ts';
import type { BoundQuery, Segment } from '../core/row-source.ts';
import type { Progress } from '../services/operation/operation-repository.ts';

/** Settings that all loads of a process share. */
export interface LoaderOptions {
  /** Database in which the loader locks its generation. */
  databaseUrl: string;
  index: IndexLocation;
}

/**
 * One load: rows of a query become a generation. It contains secrets, so it is sent over the IPC channel only, never as
 * an argument or in the environment.
 */
export interface LoadJob extends LoaderOptions {
  /** The service's own database, which no datasource may use. */
  ownDatabase: DatabaseIdentity | null;
  generationId: GenerationId;
  /** `file` is the path of an uploaded source's file. */
  source: { type: string; config: Record<string, unknown>; secrets: Record<string, string>; file: string | null };
  query: BoundQuery;
  /** Number of rows that the last load read; null if it is unknown. */
  lastRows: number | null;
  plan: Omit<LoadPlan, 'progress' | 'stored' | 'signal'>;
}

/**
 * Replies to a loader whose file the parent reads: to `describe` the provisional columns; to `read` a segment, the end,
 * or the final columns, after which the next `read` begins again.
 */
export type FromSource =
  | { kind: 'columns'; columns: Column[] }
  | { kind: 'segment'; segment: Segment }
  | { kind: 'end' }
  | { kind: 'columns-changed'; columns: Column[] }
  | { kind: 'rows'; rows: number }
  | { kind: 'estimate'; rows: number };

/**
 * Messages to the loader. `prepare` comes before the job is known. After `published` it prepares the search words, then
 * sends `idle` or exits; after `done` it exits immediately.
 */
export type ToLoader =
  | FromSource
  | { kind: 'prepare' }
  | { kind: 'load'; job: LoadJob }
  | { kind: 'abort' }
  | { kind: 'published'; generation: Generation }
  | { kind: 'done' };

/**
 * Messages from the loader: `describe` and `read` ask the parent for a part of its source; `source-ended` has the code
 * of the source's error; `failed` is an error that the caller gets, `broken` a bug, `interrupted` a reason to retry; after
 * `idle` it can load another generation.
 */
export type FromLoader =
  | { kind: 'describe' }
  | { kind: 'read'; dir: string; estimate: boolean }
  | { kind: 'progress'; progress: Progress }
  | { kind: 'source-ended'; startedAt: number; endedAt: number; rows: number; error: string | null }
  | { kind: 'loaded'; generation: Generation }
  | { kind: 'failed'; failure: OperationFailure }
  | { kind: 'broken'; message: string }
  | { kind: 'interrupted'; why: string }
  | { kind: 'idle' };
