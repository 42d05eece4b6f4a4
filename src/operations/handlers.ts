import { datasetRefresh } from './dataset-refresh.ts';
import type { Handlers } from './handler.ts';
import type { LoaderPlace } from './load-job.ts';

/** Every long operation and who carries it out. The address among `loaders` is the migrator's: locks are held there. */
export const handlers = (loaders: LoaderPlace): Handlers => ({ 'dataset.refresh': datasetRefresh(loaders) });
