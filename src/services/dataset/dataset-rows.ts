import type { Context } from '../../core/context.ts';
import type { Row } from '../../core/dataset-index.ts';
import type { Field } from '../../core/fields.ts';
import { countMatching, parseRowQuery, type RowQuery } from './dataset-data.ts';
import { viewOf, type ViewedDataset } from './dataset-view.ts';
import { queryIndex } from './index-query.ts';

/** The first rows of a dataset. */
export interface FirstRows {
  rows: Row[];
  /** The fields of the rows, in their order. */
  fields: Field[];
  /** Number of all matching rows. */
  total: number;
  truncated: boolean;
}

/**
 * Returns the first rows that the viewer sees and the query selects, in any number. Reads in batches, of which each row
 * goes to `onRow`, which may throw to stop. Throws like `search`.
 */
export async function readFirstRows(
  ctx: Context,
  dataset: ViewedDataset,
  query: RowQuery,
  limit: number,
  onRow: (row: Row) => void,
): Promise<FirstRows> {
  const view = await viewOf(ctx, dataset);
  const { fields, ...rowQuery } = await parseRowQuery(ctx, view, query);
  const { generation } = view;
  if (!generation) return { rows: [], fields, total: 0, truncated: false };
  const search = { ...rowQuery, generation, fields: fields.map(({ name }) => name) };
  const rows: Row[] = [];
  const truncated = await queryIndex(ctx, async (index, signal) => {
    for await (const batch of index.scan(search, signal)) {
      for (const row of batch) {
        if (rows.length === limit) return true;
        onRow(row);
        rows.push(row);
      }
    }
    return false;
  });
  return { rows, fields, total: truncated ? await countMatching(ctx, search) : rows.length, truncated };
}
