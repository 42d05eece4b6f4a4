import type { Context } from './context.ts';
import type { Transaction } from './platform.ts';

/** Settings of a job, or of one of its actions. */
export type JobData = Record<string, unknown>;

/** A type of jobs: what a run does before its actions. See docs/contract.md#jobs. */
export interface JobDriver {
  id: string;
  name: string;
  description: string;
  /** JSON Schema of `data`. */
  schema: Record<string, unknown>;
}

/** The job whose action is saved, in the transaction of the change. The job is locked. */
export interface SavedAction {
  ctx: Context;
  tx: Transaction;
  jobId: string;
  /** Undefined for a new action. */
  actionId?: string;
}

/** A type of actions: one folder below `src/services/job/drivers`. See docs/contract.md#job-actions. */
export interface JobActionDriver extends JobDriver {
  /** Whether `data` names a dataset, by `alias` or `datasetId`. */
  usesDataset?: boolean;
  /** The key of `data` whose objects are criteria for the rows of that dataset. */
  criteria?: string;
  /** Keys of `data` with secrets: `secret`, or `headers.*` for all values of an object. */
  secrets?: readonly string[];
  /** The key that says who receives the secrets. When it changes, they must be sent again. */
  secretsFor?: string;
  /**
   * Checks what the JSON Schema cannot, and returns the data to store, e.g. with canonical principals. Throws
   * BAD_USER_INPUT naming the key, NOT_FOUND for an id that finds nothing.
   */
  prepare?(data: JobData, action: SavedAction): JobData | Promise<JobData>;
}
