import type { BlockData } from '../../entities/report-data.ts';
import type { Client } from './client.ts';

/** Keys of a block that counts rows. */
export const COUNT = { measures: [{ fn: 'count', as: 'n' }] };
/** Keys of a block that sums amounts by region. */
export const SUM_BY_REGION = {
  groupBy: [{ field: 'region' }],
  measures: [{ fn: 'sum', field: 'amount', as: 'sum' }],
  sort: 'region',
};

/** Loads the data of a report's blocks. */
export const dataBlocksOf = async (client: Client, reportId: string, query = ''): Promise<BlockData[]> =>
  (await client.get(`/reports/${reportId}/data${query}`)).body.blocks;

/** Loads the data of a report's blocks, by block id. */
export const dataById = async (client: Client, reportId: string): Promise<Record<string, BlockData['data']>> =>
  Object.fromEntries((await dataBlocksOf(client, reportId)).map(({ id, data }) => [id, data]));
