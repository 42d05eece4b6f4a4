import { run } from '../../datasource/saved-query.ts';
import { ID_SCHEMA, printField } from './dataset-processor.ts';
import type { Processor } from './processor.ts';

/** Maximum number of rows. Drivers also stop after 16 MB. */
const MAX_ROWS = 10_000;

interface QueryConfig {
  queryId: string;
  params?: Record<string, unknown> | null;
}

/** Runs a saved query. */
export const QUERY_PROCESSOR: Processor<QueryConfig> = {
  schema: {
    type: 'object',
    properties: { queryId: ID_SCHEMA, params: { type: ['object', 'null'], maxProperties: 100 } },
    required: ['queryId'],
    additionalProperties: false,
  },
  names: { queryId: 'query' },
  async read(ctx, { queryId, params }, { previewRows, take }) {
    const { fields, rows, truncated } = await run(ctx, queryId, params, previewRows ?? MAX_ROWS);
    for (const row of rows) take(row);
    return { fields: fields.map(printField), rows, truncated };
  },
};
