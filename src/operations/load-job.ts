import type { IndexPlace } from '../adapters/dataset-index/open-index.ts';
import type { DatabaseIdentity } from '../adapters/drivers/source-guard.ts';
import type { Generation, GenerationId, LoadPlan } from '../core/dataset-index.ts';
import type { OperationFailure } from '../core/operations.ts';
import type { BoundQuery } from '../core/row-source.ts';

/** What every load of a process has in common. */
export interface LoaderPlace {
  /** Where the loader holds the lock of its generation. */
  databaseUrl: string;
  index: IndexPlace;
}

/** One load: rows of a query become a generation. It holds secrets, so it travels over the IPC channel only, never as an argument or in the environment. */
export interface LoadJob extends LoaderPlace {
  /** The database that no datasource may be. */
  ownDatabase: DatabaseIdentity | null;
  generationId: GenerationId;
  /** `file` is the path of an uploaded source's file. */
  source: { type: string; config: Record<string, unknown>; secrets: Record<string, string>; file: string | null };
  query: BoundQuery;
  plan: Omit<LoadPlan, 'progress' | 'signal'>;
}

/** What the parent says. After `published` the loader prepares what searches need and ends by itself; after `done` it ends. */
export type ToLoader =
  | { kind: 'load'; job: LoadJob }
  | { kind: 'abort' }
  | { kind: 'published'; generation: Generation }
  | { kind: 'done' };

/** What the loader says. `interrupted` is no fault of the work. */
export type FromLoader =
  | { kind: 'progress'; rows: number }
  | { kind: 'loaded'; generation: Generation }
  | { kind: 'failed'; failure: OperationFailure }
  | { kind: 'broken'; message: string }
  | { kind: 'interrupted'; why: string };
