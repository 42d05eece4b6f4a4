import { agentRun } from './agent-run.ts';
import { appDeploy } from './app-deploy.ts';
import { appMigrate } from './app-migrate.ts';
import { datasetBenchmark } from './dataset-benchmark.ts';
import { datasetCopy, datasetPromote, datasetSnapshot } from './dataset-clone.ts';
import { datasetRefresh } from './dataset-refresh.ts';
import { datasourceReplaceFile } from './datasource-replace-file.ts';
import type { Handlers } from './handler.ts';
import { imageCreate } from './image-create.ts';
import { jobRun } from './job-run.ts';
import { librarySync } from './library-sync.ts';
import type { LoaderOptions } from './load-job.ts';
import { datasetPreview, datasetPromoteRefresh } from './refresh-preview.ts';
import { templateRender } from './template-render.ts';

/** Returns the handlers of all queued operations. `loaders.databaseUrl` is the migrator's: locks are taken there. */
export const createHandlers = (loaders: LoaderOptions): Handlers => ({
  'dataset.refresh': datasetRefresh(loaders),
  'dataset.benchmark': datasetBenchmark(loaders),
  'dataset.preview': datasetPreview(loaders),
  'dataset.promoteRefresh': datasetPromoteRefresh,
  'dataset.copy': datasetCopy(loaders),
  'dataset.snapshot': datasetSnapshot(loaders),
  'dataset.promote': datasetPromote(loaders),
  'datasource.replaceFile': datasourceReplaceFile(loaders),
  'job.run': jobRun,
  'template.render': templateRender,
  'app.migrate': appMigrate,
  'app.deploy': appDeploy,
  'library.sync': librarySync(),
  'agent.run': agentRun(),
  'image.create': imageCreate,
});
