import type { Datasource } from '../../../entities/datasource.ts';
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
import { load } from '../resource/load-resource.ts';
import { DATASOURCE } from '../resource/owned-kinds.ts';

/** What one may want of a datasource: to build on queries that others wrote for it, or to have it run one's own text. */
export type DatasourceUse = 'datasource:read' | 'datasource:run';

/** A datasource that the caller names beside the resource that the call is about: 404 when they may not read it, 403 when they may not do that. */
export const usable = (ctx: Context, tx: Transaction, id: string, use: DatasourceUse): Promise<Datasource> =>
  // `If-Match` speaks of the resource of the call, not of this one.
  load(ctx, tx, DATASOURCE, id, use);

/** How a datasource of this type reads its SQL. */
export const dialectOf = (type: string): SqlDialect => (type === 'mysql' ? 'mysql' : 'standard');

/** 403 unless the owner of a dataset or query may use its datasource: what runs without its owner watching runs on the owner's right (contract 3). */
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
    ? await levelOfPrincipal(tx, tenantId, ownerId, { id: datasourceId, ...datasource })
    : LEVEL.none;
  if (!levelAllows(level, use)) throw refused(`The owner lacks the permission ${use} on the datasource`);
}

/** The level that a principal, who need not be calling, has on a resource. */
async function levelOfPrincipal(
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
