import type { Datasource } from '../../entities/datasource.ts';
import type { Context } from '../core/context.ts';
import { refused } from '../core/errors.ts';
import { LEVEL, LEVEL_OF_ROLE, levelAllows, type Level, type TeamRole } from '../core/permissions.ts';
import type { Transaction } from '../core/platform.ts';
import type { SqlDialect } from '../core/parameters.ts';
import { DATASOURCE } from './kinds.ts';
import { load } from './rights.ts';

/** What one may want of a datasource: to build on queries that others wrote for it, or to have it run one's own text. */
export type DatasourceUse = 'datasource:read' | 'datasource:run';

/** A datasource that the caller names beside the resource that the call is about: 404 when they may not read it, 403 when they may not do that. */
export const usable = (ctx: Context, tx: Transaction, id: string, use: DatasourceUse): Promise<Datasource> =>
  // `If-Match` speaks of the resource of the call, not of this one.
  load({ ...ctx, ifMatch: undefined }, tx, DATASOURCE, id, use);

/** How a datasource of this type reads its SQL. */
export const dialectOf = (type: string): SqlDialect => (type === 'mysql' ? 'mysql' : 'standard');

/** 403 unless the owner of a dataset or query may use its datasource: what runs without its owner watching runs on the owner's right (contract 3). */
export async function checkOwnerMayUse(tx: Transaction, tenantId: string, ownerId: string, datasourceId: string, use: DatasourceUse): Promise<void> {
  const [datasource] = await tx.query<{ ownerId: string }>({ text: `select owner_id as "ownerId" from dws.datasource where tenant_id = $1 and id = $2`, values: [tenantId, datasourceId] });
  const level = datasource ? await levelOfPrincipal(tx, tenantId, ownerId, datasource.ownerId) : LEVEL.none;
  if (!levelAllows(level, use)) throw refused(`The owner lacks the permission ${use} on the datasource`);
}

/** The level that one principal has on what another owns. */
async function levelOfPrincipal(tx: Transaction, tenantId: string, principal: string, ownerId: string): Promise<Level> {
  if (principal === ownerId) return LEVEL.owner;
  if (!principal.startsWith('user:')) return LEVEL.none;
  const team = ownerId.startsWith('team:') ? ownerId.slice('team:'.length) : null;
  const [user] = await tx.query<{ superuser: boolean; role: TeamRole | null }>({
    text: `select u.superuser, m.role from dws.app_user u left join dws.team_member m on m.user_id = u.id and m.team_id = $3 where u.tenant_id = $1 and u.id = $2`,
    values: [tenantId, principal.slice('user:'.length), team],
  });
  if (user?.superuser) return LEVEL.owner;
  return user?.role ? LEVEL_OF_ROLE[user.role] : LEVEL.none;
}
