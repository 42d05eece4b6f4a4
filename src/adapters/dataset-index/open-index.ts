import { join } from 'node:path';
import type { Config } from '../../core/config.ts';
import type { DatasetIndex } from '../../core/dataset-index.ts';
import { openDuckdbIndex } from './duckdb/duckdb-index.ts';
import type { EngineSettings } from './elasticsearch/client.ts';

/** Where an installation keeps the rows of its datasets. Plain data, for it travels to loaders; the engine's address may hold a password. */
export interface IndexPlace {
  /** A folder of this machine: the rows themselves, or what is staged for the engine. */
  dir: string;
  /** The search engine that holds the rows; null when the folder does. */
  engine: EngineSettings | null;
}

/** The place that the configuration names. `installation` tells services apart that share a cluster. */
export const indexPlace = (
  { DATA_DIR, ELASTICSEARCH_URL: url }: Pick<Config, 'DATA_DIR' | 'ELASTICSEARCH_URL'>,
  installation: string,
): IndexPlace =>
  url
    ? { dir: join(DATA_DIR, 'staging'), engine: { url, prefix: `dws-${installation}-` } }
    : { dir: join(DATA_DIR, 'datasets'), engine: null };

/** Opens the index at a place. `memoryLimit` is what the embedded one may take. */
export async function openIndex({ dir, engine }: IndexPlace, memoryLimit?: string): Promise<DatasetIndex> {
  if (!engine) return openDuckdbIndex({ dir, ...(memoryLimit && { memoryLimit }) });
  // The engine's client takes 40 MB of memory, which the embedded index need not pay for.
  const { openElasticsearchIndex } = await import('./elasticsearch/elasticsearch-index.ts');
  return openElasticsearchIndex({ ...engine, scratch: dir });
}
