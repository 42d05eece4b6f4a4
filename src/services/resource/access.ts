import type { OwnedRow } from '../../../entities/owned-row.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import type { Query } from '../../core/database.ts';
import { badInput, forbidden, notFound, preconditionFailed } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import {
  isRestricted,
  LEVEL,
  LEVEL_OF_ROLE,
  levelAllows,
  type Level,
  type ResourcePermission,
  type ShareLevel,
  type TeamRole,
} from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import { isSlug } from '../../core/slug.ts';
import type { Viewer } from '../../core/viewer.ts';
import type { KindOf } from './owned-kind.ts';

/** The viewer's level on what a principal owns, shares aside: superusers and owners above all, members by their role (contract 3). */
export function ownershipLevel(viewer: Pick<Viewer, 'superuser' | 'userId' | 'teamRoles'>, ownerId: string): Level {
  if (viewer.superuser || ownerId === `user:${viewer.userId}`) return LEVEL.owner;
  const role = ownerId.startsWith('team:') ? viewer.teamRoles[ownerId.slice(5)] : undefined;
  return role ? LEVEL_OF_ROLE[role] : LEVEL.none;
}

/** A share that hides nothing. */
const UNRESTRICTED = 's.dataset_filter_id is null and not s.restrict_fields';
const SHARE_LEVEL = `case when ${UNRESTRICTED} or s.access_level = 0 then s.access_level when s.access_level = ${LEVEL.view} then ${LEVEL.restrictedView} else ${LEVEL.restrictedEdit} end::float8`;

/** The levels that shares give a viewer on resources, in the order of their ids; the highest of several wins. */
export async function sharedLevels(
  query: Query,
  { tenantId, principals }: Pick<Viewer, 'tenantId' | 'principals'>,
  ids: readonly string[],
): Promise<Level[]> {
  const found = await query<{ id: string; level: Level }>({
    name: 'shared-levels',
    text: `select resource_id as id, max(${SHARE_LEVEL}) as level from dws.share s where tenant_id = $1 and resource_id = any($2) and principal = any($3) group by resource_id`,
    values: [tenantId, ids, principals],
  });
  const levels = new Map(found.map(({ id, level }) => [id, level]));
  return ids.map((id) => levels.get(id) ?? LEVEL.none);
}

/** Of a viewer, what their levels depend on. */
export type Grantee = Pick<Viewer, 'superuser' | 'userId' | 'teamRoles' | 'tenantId' | 'principals'>;

/** A user, who need not be calling; of a team what each of its members is. Null when there is no such user. */
export async function granteeOf(
  { query }: Pick<Transaction, 'query'>,
  tenantId: string,
  principal: string,
): Promise<Grantee | null> {
  const id = principal.slice('user:'.length);
  if (principal.startsWith('team:'))
    return { superuser: false, tenantId, userId: '', teamRoles: { [id]: 'member' }, principals: [principal] };
  const [user] = await query<{ superuser: boolean; teamRoles: Record<string, TeamRole> }>({
    text: `select u.superuser, coalesce((select jsonb_object_agg(m.team_id, m.role) from dws.team_member m where m.tenant_id = $1 and m.user_id = u.id), '{}') as "teamRoles"
      from dws.app_user u where u.tenant_id = $1 and u.id = $2`,
    values: [tenantId, id],
  });
  return user
    ? {
        ...user,
        tenantId,
        userId: id,
        principals: [principal, ...Object.keys(user.teamRoles).map((team) => `team:${team}`)],
      }
    : null;
}

/** What a level is looked up by. */
export interface Owned {
  id: string;
  ownerId: string;
  /** Of a draft or snapshot: the dataset it belongs to. */
  parent?: { id: string; ownerId: string } | null;
}

/** The viewer's level on a resource, by ownership, role and shares. No share gives more than an admin of the owning team has. */
export function accessLevel(ctx: Context, { id, ownerId, parent }: Owned): Level | Promise<Level> {
  const own = ownershipLevel(ctx.viewer, ownerId);
  if (parent) return Promise.resolve(accessLevel(ctx, parent)).then((above) => cappedLevel(above, own));
  return own >= LEVEL.admin ? own : ctx.sharedLevel(id).then((shared) => higher(own, shared));
}

/** The same within a transaction, where a draft or snapshot may come without its parent. */
export async function accessLevelInTransaction(
  ctx: { viewer: Grantee },
  tx: Pick<Transaction, 'query'>,
  { id, ownerId, parentId }: { id: string; ownerId: string; parentId?: string | null },
): Promise<Level> {
  const own = ownershipLevel(ctx.viewer, ownerId);
  if (parentId) {
    const [parent] = await tx.query<{ id: string; ownerId: string }>({
      text: `select id, owner_id as "ownerId" from dws.dataset where tenant_id = $1 and id = $2`,
      values: [ctx.viewer.tenantId, parentId],
    });
    return parent ? cappedLevel(await accessLevelInTransaction(ctx, tx, parent), own) : own;
  }
  return own >= LEVEL.admin ? own : higher(own, (await sharedLevels(tx.query, ctx.viewer, [id]))[0]!);
}

const higher = (a: Level, b: Level): Level => (a > b ? a : b);

/** Whoever sees a part of a dataset, or nothing, sees no more of its drafts and snapshots, though they own them (contract 3, 7). */
const cappedLevel = (above: Level, own: Level): Level => (isRestricted(above) ? above : higher(above, own));

/** The rows that some principals own, or that such shares give to the viewer, as a where-clause over bare columns, or those of `row`. */
const ownedOrShared = (
  { tenantId, principals }: Viewer,
  owners: readonly string[],
  shares: string,
  row = '',
): { sql: string; params: unknown[] } => ({
  // An array that is read once, and not a subselect for each row: so both sides of the `or` find rows by an index.
  sql: `${row}owner_id = any(?) or ${row}id = any(array(select s.resource_id from dws.share s where s.tenant_id = ? and s.principal = any(?) and ${shares}))`,
  params: [owners, tenantId, principals],
});

/** The rows of a kind with owners that the viewer may read, as a where-clause; null for all of the tenant. */
export const readable = (viewer: Viewer): { sql: string; params: unknown[] } | null =>
  viewer.superuser ? null : ownedOrShared(viewer, viewer.principals, `s.access_level >= ${LEVEL.view}`);

const atLeast =
  (level: ShareLevel, row?: string) =>
  (viewer: Viewer): { sql: string; params: unknown[] } | null =>
    viewer.superuser
      ? null
      : ownedOrShared(
          viewer,
          viewer.principals.filter((principal) => ownershipLevel(viewer, principal) >= level),
          `s.access_level >= ${level} and ${UNRESTRICTED}`,
          row,
        );

/** The rows of a kind with owners of which the viewer sees the whole, or that they may write, or share, in the same form; the first stands beside other rows, where a list is sorted. */
export const fullyVisible = atLeast(LEVEL.view, 'r.');
export const writable = atLeast(LEVEL.edit);
export const shareable = atLeast(LEVEL.admin);

/** The datasets that the viewer may read: of drafts their own, of drafts and snapshots those of datasets that they may read. */
export const readableDatasets: AccessFilter = (viewer) => {
  const rule = readable(viewer);
  return (
    rule && {
      sql: `r.parent_id is null and (${rule.sql}) or r.parent_id = any(array(select id from dws.dataset where tenant_id = ? and (${rule.sql}))) and (r.is_snapshot or r.owner_id = ?)`,
      params: [...rule.params, viewer.tenantId, ...rule.params, `user:${viewer.userId}`],
    }
  );
};

/** The rows about a resource that the viewer may read; `column` holds the id of the resource, which is a row of `table`. */
export const readableThrough =
  (table: string, column: string, allowed: typeof readable = readable): AccessFilter =>
  (viewer) => {
    const rule = allowed(viewer);
    return (
      rule && {
        sql: `r.${column} in (select id from dws.${table} where tenant_id = ? and (${rule.sql}))`,
        params: [viewer.tenantId, ...rule.params],
      }
    );
  };

/** The versions that a caller's `If-Match` allows; without them any version will do. Pass `{ ifMatch: ctx.ifMatch }` for the resource that the request names. */
export type ExpectedVersion = Pick<Context, 'ifMatch'>;

/**
 * Loads a row for a change, locked until the transaction ends. 404 when the viewer may not read it, 403 naming the permission when it may not do that,
 * 412 when `If-Match` speaks of another version.
 */
export async function load<T extends OwnedRow>(
  ctx: Context,
  tx: Transaction,
  kind: KindOf<T>,
  id: string,
  permission: ResourcePermission,
  expected: ExpectedVersion = {},
): Promise<T> {
  const [found] = await tx.query<{ id: string }>({
    text: `select id from dws.${kind.table} where tenant_id = $1 and ${keyColumn(ctx.viewer, id).sql} for update`,
    values: [ctx.viewer.tenantId, keyColumn(ctx.viewer, id).value],
  });
  const row = found && (await tx.em.findOne<OwnedRow>(kind.entity, { id: found.id }));
  if (row) recordAuditTarget(ctx.request, kind.kind, id, row.id);
  const level = row ? await accessLevelInTransaction(ctx, tx, row) : LEVEL.none;
  if (!row || level === LEVEL.none) throw notFound({ what: kind.what, id });
  if (!levelAllows(level, permission)) throw forbidden({ permission });
  checkVersion(expected, kind.what, row.version);
  return row as T;
}

/** The id behind an id, slug or natural id, whoever may read it; undefined when there is none. Nothing is locked. */
export async function idOf(
  ctx: Pick<Context, 'viewer'>,
  tx: Pick<Transaction, 'query'>,
  table: string,
  key: string,
): Promise<string | undefined> {
  const { sql, value } = keyColumn(ctx.viewer, key);
  const [found] = await tx.query<{ id: string }>({
    text: `select id from dws.${table} where tenant_id = $1 and ${sql}`,
    values: [ctx.viewer.tenantId, value],
  });
  return found?.id;
}

/** 412 when the caller demanded another version. */
export function checkVersion({ ifMatch }: ExpectedVersion, what: string, version: number): void {
  if (ifMatch && !ifMatch.includes(version)) throw preconditionFailed({ what });
}

/** The ids as their table spells them, each once; 404 naming the first that the tenant does not have. What they name stays until the transaction ends. */
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

/** Every kind with a slug is found by id, slug or natural id (contract 4). */
function keyColumn(viewer: Viewer, id: string): { sql: string; value: string } {
  if (isUuid(id)) return { sql: 'id = $2', value: id };
  const natural = id.startsWith(`${viewer.tenant}:`) ? id.slice(viewer.tenant.length + 1) : id;
  return { sql: 'slug = $2', value: natural };
}

/**
 * The canonical principal behind `user:<id>`, `team:<id>`, a bare user id or a username (contract 3); 404 naming it when there is none. It stays until the
 * transaction ends, so that nothing is given to somebody who is being deleted.
 */
export const principalOf = (tx: Transaction, tenantId: string, given: string): Promise<string> =>
  findPrincipal(tx, tenantId, given, ' for key share');

async function findPrincipal(
  tx: Pick<Transaction, 'query'>,
  tenantId: string,
  given: string,
  lock: string,
): Promise<string> {
  const isTeam = given.startsWith('team:');
  const word = given.replace(/^(user|team):/, '');
  const bySlug = isTeam ? 'slug = $2' : 'lower(username) = lower($2)';
  const [found] = await tx.query<{ id: string }>({
    text: `select id from dws.${isTeam ? 'team' : 'app_user'} where tenant_id = $1 and ${isUuid(word) ? 'id = $2' : bySlug}${lock}`,
    values: [tenantId, word],
  });
  if (!found) throw notFound({ what: isTeam ? 'team' : 'user', id: given });
  return `${isTeam ? 'team' : 'user'}:${found.id}`;
}

/** The arguments of a list with the owner's canonical principal and the ids of tag and folder; 404 when one of them names nothing. */
export async function resolvePage<P extends { ownerId?: string; tag?: string; folderId?: string }>(
  ctx: Pick<Context, 'query' | 'viewer'>,
  page: P,
): Promise<P> {
  const { ownerId, tag, folderId } = page;
  if (ownerId == null && tag == null && folderId == null) return page;
  return {
    ...page,
    ...(ownerId != null && { ownerId: await findPrincipal(ctx, ctx.viewer.tenantId, ownerId, '') }),
    ...(tag != null && { tag: await findId(ctx, 'tag', tag, 'lower(name) = lower($2)') }),
    ...(folderId != null && { folderId: await findId(ctx, 'folder', folderId) }),
  };
}

/** The id of a row that is named by its id, or by its name where `named` compares names. */
async function findId(
  { query, viewer }: Pick<Context, 'query' | 'viewer'>,
  table: 'tag' | 'folder',
  given: string,
  named?: string,
): Promise<string> {
  const condition = isUuid(given) ? 'id = $2' : given.includes('\0') ? undefined : named;
  const [found] = condition
    ? await query<{ id: string }>({
        text: `select id from dws.${table} where tenant_id = $1 and ${condition}`,
        values: [viewer.tenantId, given],
      })
    : [];
  if (!found) throw notFound({ what: table, id: given });
  return found.id;
}

/** A slug nobody of the kind has: the one asked for, or one made of the name with `-2`, `-3`, … */
export async function freeSlug(tx: Transaction, tenantId: string, table: string, wanted: string): Promise<string> {
  // Two who take a slug of the same kind at once wait for each other, so that neither meets the unique index.
  await tx.query({
    text: `select pg_advisory_xact_lock(hashtextextended($1, 0))`,
    values: [`slug:${tenantId}:${table}`],
  });
  const taken = await tx.query<{ slug: string }>({
    text: `select slug from dws.${table} where tenant_id = $1 and (slug = $2 or slug like $2 || '-%')`,
    values: [tenantId, wanted],
  });
  const slugs = new Set(taken.map(({ slug }) => slug));
  if (!slugs.has(wanted)) return wanted;
  for (let n = 2; ; n++) if (!slugs.has(`${wanted}-${n}`)) return `${wanted}-${n}`;
}

export function checkSlug(slug: string): string {
  if (!isSlug(slug))
    throw badInput(`slug must match ^[a-z0-9][a-z0-9-]*$, have at most 100 characters and not be shaped like a UUID`);
  return slug;
}
