import type { ModelTier } from './ai.ts';
import type { ValidationIssue } from './errors.ts';
import type { ParameterDefinition } from './parameters.ts';
import type { BoundQuery, NewFile } from './row-source.ts';

/** Query and flags of a refresh, as they were when it was requested. */
export interface DatasetRefreshInput {
  datasetId: string;
  datasourceId: string;
  /** Text with `{{name}}` placeholders. */
  query: string;
  parameters: BoundQuery['parameters'];
  syncFields: boolean;
  updateTypeMapping: boolean;
  /** See `LoadPlan`. */
  disableRefreshInterval: boolean;
  /** Whether the dataset belongs to an upload. Such a dataset is deleted when its rows cannot be loaded. */
  upload?: boolean;
}

/** The measured work of a benchmark, and how often it runs. */
export interface BenchmarkConfig {
  /** Number of measured runs, 1 to 100. */
  iterations: number;
  /** Number of runs before them that are not measured, 0 to 20. */
  warmup: number;
  /** Whether the service reads the rows. Otherwise the source counts them. */
  includeDataTransfer: boolean;
  /** Whether the service also loads the rows into a temporary generation. */
  includeIndexing: boolean;
}

/** Query and config of a benchmark, as they were when it was requested. */
export interface DatasetBenchmarkInput extends Pick<
  DatasetRefreshInput,
  'datasetId' | 'datasourceId' | 'query' | 'parameters'
> {
  config: BenchmarkConfig;
}

/** Input of a refresh, with the definitions of the query's parameters. */
export interface RefreshPreviewInput extends DatasetRefreshInput {
  definitions: ParameterDefinition[];
}

/** The preview whose rows are published. */
export interface PromoteRefreshInput {
  previewId: string;
}

/** Common input of the operations that create one dataset from another. */
export interface CloneInput {
  /** Id of the original. */
  datasetId: string;
  /** Id of the new dataset. It is chosen with the request, so that every attempt creates the same dataset. */
  newId: string;
  name: string;
  /** Absent: the description of the original. */
  description?: string | null;
}

/** Parts that a copy includes in addition to the definition of its original. */
export interface CopyParts {
  /** The rows and their fields. */
  data: boolean;
  visuals: boolean;
  /** The filters that the copying user can read. They keep their owners. */
  filters: boolean;
  /**
   * The shares, except the copying user's own and those restricted by a filter that the user cannot read. A copied
   * share never shows more rows than the original.
   */
  sharing: boolean;
}

export interface DatasetCopyInput extends CloneInput, CopyParts {}

/** Input of a promotion. `datasetId` is the snapshot. */
export interface PromotionInput extends CloneInput {
  /** Whether the snapshot stays and a new dataset is created from it. */
  preserveSnapshot: boolean;
}

/** The run of a job that an operation executes. */
interface JobRunInput {
  runId: string;
  /** The owner of the job when the run was requested, with whose rights it runs. */
  ownerId: string;
  /** Key of the first task of a continued run to execute. Default: the one after the last that ended. */
  from?: string;
}

/** A requested rendering. The template is read when the operation runs. */
export interface TemplateRenderInput {
  templateId: string;
  /** The file to render. Null: the one that the template names. */
  templateFileId: string | null;
  /** Null: the handler of the template. */
  handler: string | null;
  /** Null: the options of the template. */
  handlerOptions: Record<string, unknown> | null;
  /** Values of inputs by their names. */
  params: Record<string, unknown>;
  /** Name of the document. Null: by the slug of the template. */
  filename: string | null;
  /** Whether only the first rows of each processor are read. */
  preview: boolean;
}

/** The run of an agent that an operation executes. */
interface AgentRunInput {
  agentRunId: string;
  /** The owner of the agent when the run was requested, with whose rights it runs. */
  ownerId: string;
}

interface AppMigrateInput {
  appId: string;
  /** Whether everything is undone at the end. */
  dryRun: boolean;
}

interface AppDeployInput {
  appId: string;
}

/** The options of a library's sync. */
export interface LibrarySyncInput {
  libraryId: string;
  /** Whether all files are deleted first. */
  purge: boolean;
  /** Whether nothing is stored. */
  dryRun: boolean;
  /** Whether all files are listed, and not only changes. */
  full: boolean;
}

/** An image to create, as it was requested. */
export interface ImageCreateInput {
  imageId: string;
  /** Id of the call in the audit, and of the reservation of its credits. */
  callId: string;
  assistantId: string | null;
  provider: { id: string; name: string; isOwn: boolean };
  /** Id of the model. */
  model: string;
  tier: ModelTier;
  size: string | null;
  /** Price at the time of the request: decimals. */
  price: { dollars: string; credits: string };
  /** The encrypted prompt. */
  sealedPrompt: string;
}

/**
 * Long operations and their inputs. A service starts an operation by its name, a handler in src/operations runs it. The
 * input is stored in the operation's row: JSON without secrets. See docs/contract/operations.md#operations.
 */
export interface OperationInputs {
  'dataset.refresh': DatasetRefreshInput;
  /** Runs inline, in the called process. */
  'dataset.run': Record<string, never>;
  'dataset.benchmark': DatasetBenchmarkInput;
  'dataset.preview': RefreshPreviewInput;
  'dataset.promoteRefresh': PromoteRefreshInput;
  'dataset.copy': DatasetCopyInput;
  'dataset.snapshot': CloneInput;
  'dataset.promote': PromotionInput;
  /** The refreshes read the new file, and are published with it. */
  'datasource.replaceFile': { newFile: NewFile; refreshes: DatasetRefreshInput[] };
  'job.run': JobRunInput;
  'template.render': TemplateRenderInput;
  'app.migrate': AppMigrateInput;
  'app.deploy': AppDeployInput;
  'library.sync': LibrarySyncInput;
  'agent.run': AgentRunInput;
  'image.create': ImageCreateInput;
}

export type OperationName = keyof OperationInputs;

/** Names of all operations. */
export const OPERATION_NAMES = [
  'dataset.refresh',
  'dataset.run',
  'dataset.benchmark',
  'dataset.preview',
  'dataset.promoteRefresh',
  'dataset.copy',
  'dataset.snapshot',
  'dataset.promote',
  'datasource.replaceFile',
  'job.run',
  'template.render',
  'app.migrate',
  'app.deploy',
  'library.sync',
  'agent.run',
  'image.create',
] as const satisfies readonly OperationName[];

/** States of an operation and of job runs. */
export const OPERATION_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export type OperationStatus = (typeof OPERATION_STATUSES)[number];
export const isFinal = (status: OperationStatus): boolean =>
  status === 'succeeded' || status === 'failed' || status === 'cancelled';

/** Phases of a load, as the `message` of the operation that runs. */
export const READING = 'Reading rows';
export const BUILDING = 'Building the index';
export const PUBLISHING = 'Publishing';

/** Why an operation failed: status, code and message of the error that a waiting caller gets. */
export interface OperationFailure {
  statusCode: number;
  code: string;
  message: string;
  /** The invalid values, or the mistakes in files. */
  validation?: ValidationIssue[];
}

/** Channels of NOTIFY. Payloads are ids only. */
export const CHANNELS = {
  operation: 'dws_operation',
  cancel: 'dws_cancel',
  dataset: 'dws_dataset',
  credential: 'dws_credential',
  mail: 'dws_mail',
  notification: 'dws_notification',
  feed: 'dws_feed',
  /** The id of an app that was deleted. */
  app: 'dws_app',
  /** The id of a tenant whose clients or their documents changed. */
  client: 'dws_client',
} as const;

/** An entry of the queue. Operations that joined one another share a work item with the id of the first. */
export interface QueuedWork {
  workId: string;
  tenantId: string;
  /** The user of the first operation that shares the work, or the team whose job runs on schedule. */
  userId: string;
  operation: OperationName;
  /** Time before which it must not start. Default: it may start immediately. */
  startAfter?: Date;
}
