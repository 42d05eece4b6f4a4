import type { OperationEnds } from '../../core/operation-ends.ts';
import { agentRunEnd } from '../agent/agent-run-end.ts';
import { refreshEnd } from '../dataset/dataset-upload-cleanup.ts';
import { replaceFileEnd } from '../dataset/datasource-replace.ts';
import { imageEnd } from '../image/image-end.ts';
import { jobRunEnd } from '../job/job-run-end.ts';
import { syncEnd } from '../library/sync-state.ts';

/** The ends of all operations, for workers and for callers who cancel operations that wait. */
export const OPERATION_ENDS: OperationEnds = {
  'dataset.refresh': refreshEnd,
  'dataset.run': null,
  'dataset.benchmark': null,
  'dataset.preview': null,
  'dataset.promoteRefresh': null,
  'dataset.copy': null,
  'dataset.snapshot': null,
  'dataset.promote': null,
  'datasource.replaceFile': replaceFileEnd,
  'job.run': jobRunEnd,
  'template.render': null,
  'app.migrate': null,
  'app.deploy': null,
  'library.sync': syncEnd,
  'agent.run': agentRunEnd,
  'image.create': imageEnd,
};
