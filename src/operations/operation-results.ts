import type { AppMigrationRun } from '../../entities/app-migration.ts';
import type { AppDeployment } from '../../entities/app-release.ts';
import type { DatasetBenchmark } from '../../entities/dataset-benchmark.ts';
import type { DatasetRefresh } from '../../entities/dataset-refresh.ts';
import type { DatasetRun } from '../../entities/dataset-run.ts';
import type { JobRunResult } from '../../entities/job-run.ts';
import type { LibrarySync } from '../../entities/library-sync.ts';
import type { RefreshPreview } from '../../entities/refresh-preview.ts';
import type { ImageResult } from '../services/image/image-request.ts';
import type { RenditionResult } from '../services/template/rendition.ts';

/** Result of a copy, snapshot or promotion: the new dataset. */
export interface CloneResult {
  id: string;
  name: string;
  records: number;
}

/** Result of the replacement of a datasource's file. */
interface ReplacementResult {
  /** Id of the datasource. */
  id: string;
  refreshed: DatasetRefresh[];
}

/** Results of the long operations, by the operation's name. */
export interface OperationResults {
  'dataset.refresh': DatasetRefresh;
  'dataset.run': DatasetRun;
  'dataset.benchmark': DatasetBenchmark;
  'dataset.preview': RefreshPreview;
  'dataset.promoteRefresh': DatasetRefresh;
  'dataset.copy': CloneResult;
  'dataset.snapshot': CloneResult;
  'dataset.promote': CloneResult;
  'datasource.replaceFile': ReplacementResult;
  'job.run': JobRunResult;
  'template.render': RenditionResult;
  'app.migrate': AppMigrationRun;
  'app.deploy': Omit<AppDeployment, 'deployedAt'> & { deployedAt: string };
  'library.sync': LibrarySync;
  'agent.run': { agentRunId: string };
  'image.create': ImageResult;
}
