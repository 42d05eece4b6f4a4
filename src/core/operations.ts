/** Names of the long operations; a service starts one by its name, a handler in src/operations carries it out (`dataset.run` runs in the called process). */
export const OPERATIONS = [
  'dataset.refresh',
  'dataset.run',
  'dataset.benchmark',
  'dataset.preview',
  'dataset.promoteRefresh',
  'dataset.copy',
  'dataset.snapshot',
  'dataset.promote',
] as const;
export type OperationName = (typeof OPERATIONS)[number];

/** States of an operation and of job runs (contract 6). */
export const OPERATION_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export type OperationStatus = (typeof OPERATION_STATUSES)[number];
export const isFinal = (status: OperationStatus): boolean =>
  status === 'succeeded' || status === 'failed' || status === 'cancelled';

/** Why an operation failed, as the waiting caller would have been told. */
export interface OperationFailure {
  statusCode: number;
  code: string;
  message: string;
}

/** Channels of NOTIFY. Payloads are ids only. */
export const CHANNELS = {
  operation: 'dws_operation',
  cancel: 'dws_cancel',
  dataset: 'dws_dataset',
  credential: 'dws_credential',
  mail: 'dws_mail',
  notification: 'dws_notification',
} as const;

/** What the queue carries: ids only. Operations that joined one another share a piece of work; `workId` is the id of the first of them. */
export interface QueuedWork {
  workId: string;
  tenantId: string;
}
