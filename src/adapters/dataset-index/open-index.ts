import { join } from 'node:path';
import type { Config } from '../../core/config.ts';
import type { DatasetIndex } from '../../core/dataset-index.ts';
import { openDuckdbIndex } from './duckdb/duckdb-index.ts';
import type { SearchEngineSettings } from './elasticsearch/client.ts';

/**
 * Where an installation stores the rows of its datasets. Plain data, because it is sent to loaders; the engine's
 * address may contain a password.
 */
export interface IndexLocation {
  /** A folder of this machine: for the rows themselves, or for rows staged for the engine. */
  dir: string;
  /** The search engine that stores the rows; null when the folder does. */
  engine: SearchEngineSettings | null;
}

/** Returns the location that the configuration names. `installation` distinguishes services that share a cluster. */
export const indexLocation = (
  { DATA_DIR, ELASTICSEARCH_URL: url }: Pick<Config, 'DATA_DIR' | 'ELASTICSEARCH_URL'>,
  installation: string,
): IndexLocation =>
  url
    ? { dir: join(DATA_DIR, 'staging'), engine: { url, prefix: `dws-${installation}-` } }
    : { dir: join(DATA_DIR, 'datasets'), engine: null };

/** Opens the index at a location. `memoryLimit` applies to the embedded index. */
export async function openIndex({ dir, engine }: IndexLocation, memoryLimit?: string): Promise<DatasetIndex> {
  if (!engine) return openDuckdbIndex({ dir, ...(memoryLimit && { memoryLimit }) });
  // The engine's client needs 40 MB of memory, so it is loaded only when it is used.
  const { openElasticsearchIndex } = await import('./elasticsearch/elasticsearch-index.ts');
  return openElasticsearchIndex({ ...engine, scratch: dir });
}
