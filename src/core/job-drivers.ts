import type { Context } from './context.ts';
import type { ResourcePermission } from './permissions.ts';
import type { Transaction } from './platform.ts';

/** Settings of a job, or of one of its actions. */
export type JobData = Record<string, unknown>;

/** The common part of types of jobs and of actions: their description. */
export interface DriverDescription {
  id: string;
  name: string;
  description: string;
  /** JSON Schema of `data`. */
  schema: Record<string, unknown>;
}

/** A step of a run with a dataset of the job, in this order. */
export type DatasetStep = 'refresh' | 'snapshot';

/** A type of jobs: the steps of a run with the datasets of the job. See docs/contract/jobs.md#jobs. */
export interface JobDriver extends DriverDescription {
  /** Returns the steps of a run with a dataset before and after the actions. `snapshots` is when one is taken. */
  steps(snapshots: 'before' | 'after' | null): { before: DatasetStep[]; after: DatasetStep[] };
}

/** The job whose action is saved, in the transaction of the change. The job is locked. */
export interface SavedAction {
  ctx: Context;
  tx: Transaction;
  jobId: string;
  /** Owner of the job, with whose rights it runs. */
  ownerId: string;
  /** Undefined for a new action. */
  actionId?: string;
}

/**
 * A type of actions: one folder below `src/services/job/drivers`. `Data` is the type of its `data`, which the JSON Schema
 * has checked. See docs/contract/jobs.md#job-actions.
 */
export interface JobActionDriver<Data = JobData> extends DriverDescription {
  /** The kind of resource in `data`: a dataset by `alias` or `datasetId`, a template by `templateId`, a library by `libraryId`. */
  uses?: 'dataset' | 'template' | 'library';
  /**
   * The permission on that dataset that callers who do not own the job need, because a run uses it with the owner's
   * rights.
   */
  datasetPermission?: ResourcePermission;
  /** The key of `data` whose objects are criteria for the rows of that dataset. */
  criteria?: string;
  /** Keys of `data` with secrets: `secret`, or `headers.*` for all values of an object. */
  secrets?: readonly string[];
  /** The key that says who receives the secrets. When it changes, they must be sent again. */
  secretsFor?: string;
  /**
   * Checks what the JSON Schema cannot, and returns the data to store, e.g. with canonical principals. Throws
   * BAD_USER_INPUT naming the key, NOT_FOUND for an unknown id.
   */
  prepare?(data: Data, action: SavedAction): Data | Promise<Data>;
  /** Runs the action. An `ApiError` fails the attempt with its message, which the readers of the job see. */
  run(run: ActionRun<Data>): Promise<void>;
  /** Returns what a run would do for the viewer, e.g. recipients, rows and size. Changes and sends nothing. */
  preview(preview: ActionPreview<Data>): Promise<JobData>;
}

/** An action while it runs or is previewed. */
interface UsedAction<Data> {
  job: { id: string; name: string };
  action: { id: string; name: string };
  /** Settings of the action, with the dataset that `alias` names in `datasetId`. */
  data: Data;
  /** Id of the dataset that the action works on. Empty for types that use none. */
  datasetId: string;
}

/** An attempt at an action of a run. */
export interface ActionRun<Data = object> extends UsedAction<Data> {
  /** Acts as the owner of the job. */
  ctx: Context;
  runId: string;
  /** Values of secrets by their paths in `data`, e.g. `secret`. They are masked in `data`. */
  secrets: ReadonlyMap<string, string>;
  /** Aborts when the run is cancelled, the attempt takes too long, or another worker takes over. */
  signal: AbortSignal;
  /** Adds a line to the log of the action, which the readers of the job see. It contains no secrets, no values of rows. */
  log(line: string): void;
  /** Reports how much of the action is done, in percent. */
  progress(percent: number): void;
  /** Returns a context that acts as another user or team. Throws FORBIDDEN with a sentence for a disabled or deleted one. */
  actAs(principal: string): Promise<Context>;
}

/** A preview of an action. */
export interface ActionPreview<Data = JobData> extends UsedAction<Data> {
  /** Acts as the caller of the preview, and sees only what they may read. */
  ctx: Context;
}
