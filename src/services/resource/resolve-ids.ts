import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';
import type { EntityType } from '../../core/read/reader.ts';
import { resourceKey } from './load-resource.ts';

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
 * Returns the canonical principal for `user:<id>`, `team:<id>`, the id of a user or else of a team, or a username, and
 * locks its row against deletion until the transaction ends. Throws NOT_FOUND if it does not exist.
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
  const find = async (type: 'user' | 'team'): Promise<string | undefined> => {
    const byName = type === 'team' ? 'slug = $2' : 'lower(username) = lower($2)';
    const table = type === 'team' ? 'team' : 'app_user';
    const [found] = await tx.query<{ id: string }>({
      text: `select id from dws.${table} where tenant_id = $1 and ${isUuid(key) ? 'id = $2' : byName}${lock}`,
      values: [tenantId, key],
    });
    return found && `${type}:${found.id}`;
  };
  const found = (await find(isTeam ? 'team' : 'user')) ?? (isUuid(principal) ? await find('team') : undefined);
  if (!found) throw notFound({ what: isTeam ? 'team' : 'user', id: principal });
  return found;
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

/**
 * Returns the ids of the rows with these ids, slugs or natural ids. Throws NOT_FOUND with the first that the viewer may not
 * read.
 */
export async function resolveReadable<T extends { id: string; slug?: string | null }>(
  { read, viewer }: Pick<Context, 'read' | 'viewer'>,
  type: EntityType<T>,
  what: string,
  keys: readonly string[],
): Promise<string[]> {
  const wanted = keys.map((key) => resourceKey(viewer, key));
  const readAll = async (column: 'id' | 'slug'): Promise<[string, string][]> => {
    const values = [...new Set(wanted.flatMap((key) => key[column] ?? []))];
    if (values.length === 0) return [];
    const rows = await read.list(type, ['id', 'slug'], { [column]: values }, undefined, values.length);
    return rows.map((row) => [(row as T)[column]!, (row as T).id]);
  };
  const ids = new Map([...(await readAll('id')), ...(await readAll('slug'))]);
  return wanted.map(({ id, slug }, index) => {
    const found = ids.get(id ?? slug);
    if (found === undefined) throw notFound({ what, id: keys[index]! });
    return found;
  });
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
