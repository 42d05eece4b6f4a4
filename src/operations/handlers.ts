import { datasetRefresh } from './dataset-refresh.ts';
import type { Handlers } from './handler.ts';

/** Every long operation and who carries it out. `databaseUrl` is the migrator's: loaders hold their locks there. */
export const handlers = (databaseUrl: string): Handlers => ({ 'dataset.refresh': datasetRefresh(databaseUrl) });
