import type { Context } from '../../core/context.ts';
import type { Row } from '../../core/dataset-index.ts';
import type { Field } from '../../core/fields.ts';
import { auditRows } from '../resource/audit-read.ts';
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

/** Maximum number of rows that are read as one page, which sorts and counts faster than batches. */
const MAX_PAGE = 1000;

/**
 * Returns the first rows that the viewer sees and the query selects, in any number. Many are read in batches. Each row
 * is passed to `onRow`, which may throw to stop. Throws like `search`.
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
  const audit = (rows: number) => auditRows(ctx, { action: 'datasetRows', datasetId: dataset.id, query, rows });
  const search = { ...rowQuery, generation, fields: fields.map(({ name }) => name) };
  if (limit <= MAX_PAGE) {
    const page = await queryIndex(ctx, (index, signal) =>
      index.search({ ...search, limit, start: 0, total: true }, signal),
    );
    await audit(page.rows.length);
    for (const row of page.rows) onRow(row);
    return { rows: page.rows, fields, total: page.total!, truncated: page.total! > page.rows.length };
  }
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
  await audit(rows.length);
  return { rows, fields, total: truncated ? await countMatching(ctx, search) : rows.length, truncated };
}
