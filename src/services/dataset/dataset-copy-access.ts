import type { Dataset } from '../../../entities/dataset.ts';
import { SavedFilter } from '../../../entities/saved-filter.ts';
import { Share } from '../../../entities/share.ts';
import type { CopyParts } from '../../core/operations.ts';
import { LEVEL, levelAllows, type Level } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { accessLevelInTransaction, ownershipLevel, type Grantee } from '../resource/access-level.ts';
import { copyRow } from '../resource/copy-row.ts';
import { effectiveQuery, linkedQuery, type QuerySource } from './dataset-query.ts';

/** Where rows come from, and what they pass on the way. */
export type RowOrigin = QuerySource & Pick<Dataset, 'flow'>;

const ROWS_ONLY: RowOrigin = { queryId: null, datasourceId: null, query: null, params: [], flow: [] };

/**
 * What somebody's copy of a dataset says of where its rows come from (contract 3): nothing when they cannot read the datasource. A live link stays one for
 * who reads the saved query, unless the copy is `frozen`; for who may run texts of their own there it becomes such a text.
 */
export async function copiedSource(
  tx: Transaction,
  viewer: Grantee,
  { flow, ...dataset }: Pick<Dataset, 'tenantId'> & RowOrigin,
  frozen: boolean,
): Promise<RowOrigin> {
  const { tenantId, queryId, params } = dataset;
  const effective = effectiveQuery(dataset, await linkedQuery(tx, tenantId, queryId));
  if (!effective) return ROWS_ONLY;
  const onSource = await levelAt(tx, viewer, 'datasource', effective.datasourceId);
  const linked = Boolean(queryId) && (await levelAt(tx, viewer, 'saved_query', queryId!)) !== LEVEL.none;
  if (onSource === LEVEL.none || (queryId && !linked && !levelAllows(onSource, 'datasource:run'))) return ROWS_ONLY;
  return linked && !frozen
    ? { queryId, datasourceId: null, query: null, params, flow }
    : { queryId: null, ...effective, flow };
}

async function levelAt(
  tx: Transaction,
  viewer: Grantee,
  table: 'datasource' | 'saved_query',
  id: string,
): Promise<Level> {
  const [row] = await tx.query<{ id: string; ownerId: string }>({
    text: `select id, owner_id as "ownerId" from dws.${table} where tenant_id = $1 and id = $2`,
    values: [viewer.tenantId, id],
  });
  return row ? accessLevelInTransaction({ viewer }, tx, row) : LEVEL.none;
}

/** Gives a copy the filters and shares of the dataset `root`. A filter that a carried share needs comes with it. */
export async function copyAccess(
  tx: Transaction,
  viewer: Grantee,
  root: { id: string; ownerId: string },
  copyId: string,
  { filters, sharing }: Pick<CopyParts, 'filters' | 'sharing'>,
): Promise<void> {
  const shares = await tx.em.find(Share, { resourceId: root.id }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  const used = new Set(shares.map(({ datasetFilterId }) => datasetFilterId));
  const mayShare = levelAllows(await accessLevelInTransaction({ viewer }, tx, root), 'dataset:share');
  const reads = ({ id, ownerId }: SavedFilter) =>
    ownershipLevel(viewer, ownerId) !== LEVEL.none || (mayShare && used.has(id));
  const readable = (await tx.em.find(SavedFilter, { datasetId: root.id }, { orderBy: { id: 'asc' } })).filter(reads);

  const copies = new Map<string, string>();
  const copied = readable.filter(({ id }) => filters || (sharing && used.has(id)));
  for (const filter of copied) copies.set(filter.id, copyRow(tx, filter, { datasetId: copyId }).id);
  if (!sharing) return;
  for (const share of shares) {
    const datasetFilterId = share.datasetFilterId ? copies.get(share.datasetFilterId) : null;
    if (datasetFilterId === undefined || share.principal === `user:${viewer.userId}`) continue;
    copyRow(tx, share, { resourceId: copyId, datasetFilterId });
  }
}
