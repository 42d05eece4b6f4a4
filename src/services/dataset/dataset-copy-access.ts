import type { Dataset } from '../../../entities/dataset.ts';
import { SavedFilter } from '../../../entities/saved-filter.ts';
import { Share } from '../../../entities/share.ts';
import type { CopyParts } from '../../core/operations.ts';
import { LEVEL, levelAllows, type Level } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { accessLevelInTransaction, ownershipLevel, type Grantee } from '../resource/access-level.ts';
import { copyRow } from '../resource/copy-row.ts';
import { effectiveQuery, loadLinkedQuery, type QuerySource } from './dataset-refresh.ts';

/** The source of a dataset's rows and the steps that transform them. */
type RowOrigin = QuerySource & Pick<Dataset, 'flow'>;

const ROWS_ONLY: RowOrigin = { queryId: null, datasourceId: null, query: null, params: [], flow: [] };

/**
 * Returns the source and flow of the viewer's copy of a dataset. See docs/contract/datasets.md#copies-and-snapshots.
 *
 * - For a viewer who cannot read the datasource, the copy has rows but no query.
 * - A link to a saved query stays a link for a viewer who can read that query, unless the copy is `frozen`.
 * - Otherwise the copy gets the query's text; if the dataset has a link, this requires `datasource:run`.
 */
export async function copySource(
  tx: Transaction,
  viewer: Grantee,
  { flow, ...dataset }: Pick<Dataset, 'tenantId'> & RowOrigin,
  frozen: boolean,
): Promise<RowOrigin> {
  const { tenantId, queryId, params } = dataset;
  const effective = effectiveQuery(dataset, await loadLinkedQuery(tx, tenantId, queryId));
  if (!effective) return ROWS_ONLY;
  const datasourceLevel = await levelAt(tx, viewer, 'datasource', effective.datasourceId);
  const canFollow = Boolean(queryId) && (await levelAt(tx, viewer, 'saved_query', queryId!)) !== LEVEL.none;
  if (datasourceLevel === LEVEL.none || (queryId && !canFollow && !levelAllows(datasourceLevel, 'datasource:run')))
    return ROWS_ONLY;
  return canFollow && !frozen
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

/** Copies filters and shares of the dataset `root` to a copy. A filter that a copied share uses is copied with it. */
export async function copyAccess(
  tx: Transaction,
  viewer: Grantee,
  root: { id: string; ownerId: string },
  copyId: string,
  { filters, sharing }: Pick<CopyParts, 'filters' | 'sharing'>,
): Promise<void> {
  const shares = await tx.find(Share, { resourceId: root.id }, { orderBy: ['createdAt', 'id'] });
  const used = new Set(shares.map(({ datasetFilterId }) => datasetFilterId));
  const mayShare = levelAllows(await accessLevelInTransaction({ viewer }, tx, root), 'dataset:share');
  const canRead = ({ id, ownerId }: SavedFilter) =>
    ownershipLevel(viewer, ownerId) !== LEVEL.none || (mayShare && used.has(id));
  const readable = (await tx.find(SavedFilter, { datasetId: root.id }, { orderBy: ['id'] })).filter(canRead);

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
