import type { BenchmarkConfig } from '../core/operations.ts';
import type { BenchmarkRun, BenchmarkStatistics } from '../core/statistics.ts';
import type { FieldChanges } from '../services/dataset/dataset-fields.ts';
import type { RunResult } from '../services/dataset/dataset-run.ts';
import type { RefreshPreviewResult } from '../services/dataset/refresh-preview.ts';

/** Result of a refresh. `duration` is in milliseconds; changed fields are counted. */
export interface DatasetRefreshResult extends FieldChanges {
  id: string;
  records: number;
  previousRecordCount: number;
  duration: number;
  dataUpdatedAt: string;
  success: true;
}

/** Result of a benchmark. `config` is the config with its defaults. */
export interface DatasetBenchmarkResult extends Pick<BenchmarkConfig, 'iterations' | 'warmup'> {
  results: BenchmarkRun[];
  statistics: BenchmarkStatistics;
  config: BenchmarkConfig;
}

/** Result of a copy, snapshot or promotion: the new dataset. */
export interface CloneResult {
  id: string;
  name: string;
  records: number;
}

/** Results of the long operations, by the operation's name. */
export interface OperationResults {
  'dataset.refresh': DatasetRefreshResult;
  'dataset.run': RunResult;
  'dataset.benchmark': DatasetBenchmarkResult;
  'dataset.preview': RefreshPreviewResult;
  'dataset.promoteRefresh': DatasetRefreshResult;
  'dataset.copy': CloneResult;
  'dataset.snapshot': CloneResult;
  'dataset.promote': CloneResult;
}
