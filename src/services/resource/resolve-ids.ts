import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';

/**
 * Returns the ids in canonical form without duplicates and locks their rows against deletion until the transaction
 * ends. Throws NOT_FOUND with the first id that the tenant does not have.
 */
export async function resolveIds(
  tx: Pick<Transaction, 'query'>,
  tenantId: string,
  what: 'folder' | 'tag',
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const found = await tx.query<{ id: string }>({
    text: `select id from dws.${what} where tenant_id = $1 and id = any($2) order by id for key share`,
    values: [tenantId, ids.filter(isUuid)],
  });
  const known = new Set(found.map(({ id }) => id));
  const unknown = ids.find((id) => !known.has(id.toLowerCase()));
  if (unknown !== undefined) throw notFound({ what, id: unknown });
  return [...known];
}

/**
 * Returns the canonical principal for `user:<id>`, `team:<id>`, a user id or a username, and locks its row against
 * deletion until the transaction ends. Throws NOT_FOUND if it does not exist.
 */
export const resolvePrincipal = (tx: Transaction, tenantId: string, principal: string): Promise<string> =>
  findPrincipal(tx, tenantId, principal, ' for key share');

async function findPrincipal(
  tx: Pick<Transaction, 'query'>,
  tenantId: string,
  principal: string,
  lock: string,
): Promise<string> {
  const isTeam = principal.startsWith('team:');
  const key = principal.replace(/^(user|team):/, '');
  const byName = isTeam ? 'slug = $2' : 'lower(username) = lower($2)';
  const table = isTeam ? 'team' : 'app_user';
  const [found] = await tx.query<{ id: string }>({
    text: `select id from dws.${table} where tenant_id = $1 and ${isUuid(key) ? 'id = $2' : byName}${lock}`,
    values: [tenantId, key],
  });
  if (!found) throw notFound({ what: isTeam ? 'team' : 'user', id: principal });
  return `${isTeam ? 'team' : 'user'}:${found.id}`;
}

/**
 * Returns the arguments of a list with the canonical principal of the owner and the ids of tag and folder. Throws
 * NOT_FOUND if one of them does not exist.
 */
export async function resolveListArguments<P extends { ownerId?: string; tag?: string; folderId?: string }>(
  ctx: Pick<Context, 'query' | 'viewer'>,
  page: P,
): Promise<P> {
  const { ownerId, tag, folderId } = page;
  if (ownerId == null && tag == null && folderId == null) return page;
  return {
    ...page,
    ...(ownerId != null && { ownerId: await findPrincipal(ctx, ctx.viewer.tenantId, ownerId, '') }),
    ...(tag != null && { tag: await findIdByName(ctx, 'tag', tag, 'lower(name) = lower($2)') }),
    ...(folderId != null && { folderId: await findIdByName(ctx, 'folder', folderId) }),
  };
}

/** Returns the id of the row with this id or, where `byName` is a condition on `$2`, this name. */
async function findIdByName(
  { query, viewer }: Pick<Context, 'query' | 'viewer'>,
  table: 'tag' | 'folder',
  key: string,
  byName?: string,
): Promise<string> {
  const condition = isUuid(key) ? 'id = $2' : key.includes('\0') ? undefined : byName;
  const [found] = condition
    ? await query<{ id: string }>({
        text: `select id from dws.${table} where tenant_id = $1 and ${condition}`,
        values: [viewer.tenantId, key],
      })
    : [];
  if (!found) throw notFound({ what: table, id: key });
  return found.id;
}
