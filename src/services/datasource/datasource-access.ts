import type { Datasource } from '../../../entities/datasource.ts';
import { DATASOURCE } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { refused } from '../../core/errors.ts';
import type { SqlDialect } from '../../core/parameters.ts';
import { LEVEL, levelAllows, type Level } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import {
  findGrantee,
  accessLevelInTransaction,
  loadSharedLevels,
  type AccessColumns,
} from '../resource/access-level.ts';
import { loadUsedResource } from '../resource/load-resource.ts';

/**
 * Permission on a datasource that a query requires: `read` to follow a saved query, `run` to run a text of one's own.
 */
export type DatasourceUse = 'datasource:read' | 'datasource:run';

/** Loads a datasource that another resource refers to. Throws like `loadUsedResource`. */
export const loadUsableDatasource = (
  ctx: Context,
  tx: Transaction,
  id: string,
  use: DatasourceUse,
): Promise<Datasource> => loadUsedResource(ctx, tx, DATASOURCE, id, use);

/** Returns the SQL dialect of a datasource type. */
export const dialectOf = (type: string): SqlDialect => (type === 'mysql' ? 'mysql' : 'standard');

/**
 * Throws FORBIDDEN unless the owner of a dataset or query has the permission on its datasource. Datasets and queries
 * run with the permissions of their owner (docs/contract/access.md#access).
 */
export async function checkOwnerMayUse(
  tx: Transaction,
  tenantId: string,
  ownerId: string,
  datasourceId: string,
  use: DatasourceUse,
): Promise<void> {
  const [datasource] = await tx.query<{ ownerId: string }>({
    text: `select owner_id as "ownerId" from dws.datasource where tenant_id = $1 and id = $2`,
    values: [tenantId, datasourceId],
  });
  const level = datasource
    ? await accessLevelOfPrincipal(tx, tenantId, ownerId, { id: datasourceId, ...datasource })
    : LEVEL.none;
  if (!levelAllows(level, use)) throw refused(`The owner lacks the permission ${use} on the datasource`);
}

/** Returns the access level that a principal has on a resource. The principal need not be the caller. */
async function accessLevelOfPrincipal(
  tx: Transaction,
  tenantId: string,
  principal: string,
  resource: AccessColumns,
): Promise<Level> {
  if (!principal.startsWith('user:')) {
    const [shared] = await loadSharedLevels(tx.query, { tenantId, principals: [principal] }, [resource.id]);
    return principal === resource.ownerId ? LEVEL.owner : shared!;
  }
  const viewer = await findGrantee(tx, tenantId, principal);
  return viewer ? accessLevelInTransaction({ viewer }, tx, resource) : LEVEL.none;
}
