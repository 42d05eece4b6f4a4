import { invalid } from '../../../core/input-checks.ts';
import type { JobActionDriver, JobDriver } from '../../../core/job-drivers.ts';
import { actionsJob } from './actions/actions.ts';
import { datasetRefreshJob } from './dataset-refresh/dataset-refresh.ts';
import { emailAction } from './email/email.ts';
import { exportAction } from './export/export.ts';
import { notifyAction } from './notify/notify.ts';
import { refreshAction } from './refresh/refresh.ts';
import { renderTemplateAction } from './render-template/render-template.ts';
import { snapshotCleanupAction } from './snapshot-cleanup/snapshot-cleanup.ts';
import { snapshotAction } from './snapshot/snapshot.ts';
import { syncLibraryAction } from './sync-library/sync-library.ts';
import { webhookAction } from './webhook/webhook.ts';

/** The types of jobs. */
export const JOB_DRIVERS: readonly JobDriver[] = [datasetRefreshJob, actionsJob];

/** The types of actions. */
export const JOB_ACTION_DRIVERS: readonly JobActionDriver[] = [
  refreshAction,
  snapshotAction,
  snapshotCleanupAction,
  exportAction,
  renderTemplateAction,
  syncLibraryAction,
  emailAction,
  webhookAction,
  notifyAction,
];

/** Returns the driver of a type of jobs. Throws BAD_USER_INPUT for an unknown one. */
export const jobDriverOf = (type: string): JobDriver => driverOf(JOB_DRIVERS, type);

/** Returns the driver of a type of actions. Throws BAD_USER_INPUT for an unknown one. */
export const jobActionDriverOf = (type: string): JobActionDriver => driverOf(JOB_ACTION_DRIVERS, type);

function driverOf<D extends { id: string }>(drivers: readonly D[], type: string): D {
  const driver = drivers.find(({ id }) => id === type);
  if (!driver) throw invalid('type', `must be one of ${drivers.map(({ id }) => id).join(', ')}`);
  return driver;
}
