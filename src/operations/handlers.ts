import type { OperationName } from '../core/operations.ts';
import { agentRun } from './agent-run.ts';
import { appDeploy } from './app-deploy.ts';
import { appMigrate } from './app-migrate.ts';
import { checkCallers } from './caller-check.ts';
import { datasetBenchmark } from './dataset-benchmark.ts';
import { datasetCopy, datasetPromote, datasetSnapshot } from './dataset-clone.ts';
import { datasetRefresh } from './dataset-refresh.ts';
import { datasourceReplaceFile } from './datasource-replace-file.ts';
import type { Handler, Handlers } from './handler.ts';
import { imageCreate } from './image-create.ts';
import { jobRun } from './job-run.ts';
import { librarySync } from './library-sync.ts';
import type { LoaderOptions } from './load-job.ts';
import { datasetPreview, datasetPromoteRefresh } from './refresh-preview.ts';
import { templateRender } from './template-render.ts';

const checked = <N extends OperationName>(handler: Handler<N>): Handler<N> => ({ ...handler, checkCallers });

/** Returns the handlers of all queued operations. `loaders.databaseUrl` is the migrator's: locks are taken there. */
export const createHandlers = (loaders: LoaderOptions): Handlers => ({
  'dataset.refresh': checked(datasetRefresh(loaders)),
  'dataset.benchmark': checked(datasetBenchmark(loaders)),
  'dataset.preview': checked(datasetPreview(loaders)),
  'dataset.promoteRefresh': checked(datasetPromoteRefresh),
  'dataset.copy': checked(datasetCopy(loaders)),
  'dataset.snapshot': checked(datasetSnapshot(loaders)),
  'dataset.promote': checked(datasetPromote(loaders)),
  'datasource.replaceFile': checked(datasourceReplaceFile(loaders)),
  'job.run': checked(jobRun),
  'template.render': checked(templateRender),
  'app.migrate': checked(appMigrate),
  'app.deploy': checked(appDeploy),
  'library.sync': checked(librarySync()),
  'agent.run': checked(agentRun()),
  'image.create': checked(imageCreate),
});
