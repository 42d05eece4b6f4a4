import type { CreateSuiteInput, UpdateSuiteInput } from '../../../entities/suite-input.ts';
import { SuiteMember } from '../../../entities/suite-member.ts';
import { Suite } from '../../../entities/suite.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { checkOptionalText, checkText, invalid } from '../../core/input-checks.ts';
import { newRow } from '../../core/new-row.ts';
import type { Transaction } from '../../core/platform.ts';
import { SqlParameters } from '../../core/read/sql-parameters.ts';
import { readable, readableThrough } from '../resource/access-filter.ts';
import { loadUnowned, type UnownedKind } from '../resource/unowned-kind.ts';

export const SUITE: UnownedKind<Suite> = { entity: Suite, what: 'suite' };

/** Creates a suite of datasources that the caller may read. Returns the id. */
export async function create(ctx: Context, { name, description, datasourceIds }: CreateSuiteInput): Promise<string> {
  const { tenantId, userId } = ctx.viewer;
  const common = { name: checkText(name, 'name'), description: checkOptionalText(description ?? null, 'description') };
  return ctx.transaction(async (tx) => {
    const memberIds = await resolveDatasources(ctx, tx, datasourceIds ?? []);
    const suite = tx.insert(newRow(Suite, { tenantId, ...common, creatorId: userId }));
    createMembers(ctx, tx, suite.id, memberIds);
    return suite.id;
  });
}

/** Changes a suite. Members that the caller cannot read stay in it, after the listed ones. Returns the id. */
export async function update(
  ctx: Context,
  id: string,
  { name, description, datasourceIds }: UpdateSuiteInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const suite = await loadUnowned(ctx, tx, SUITE, id, 'suite:write', { ifMatch: ctx.ifMatch });
    if (name !== undefined) suite.name = checkText(name, 'name');
    if (description !== undefined) suite.description = checkOptionalText(description, 'description');
    if (datasourceIds !== undefined) await replaceMembers(ctx, tx, suite, datasourceIds ?? []);
    return suite.id;
  });
}

/** Deletes a suite. Its datasources stay. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    tx.remove(await loadUnowned(ctx, tx, SUITE, id, 'suite:delete', { ifMatch: ctx.ifMatch }));
  });
}

/** Access filter on the members of a suite: the datasources that the viewer may read. */
export const MEMBER_ACCESS = readableThrough('datasource', 'datasource_id');

const MAX_MEMBERS = 1000;

interface DatasourceKeys extends Record<string, unknown> {
  id: string;
  slug: string;
}

/**
 * Returns the ids of datasources, each once, in the order of `keys` (ids, slugs or natural ids). Locks the datasources
 * against deletion until the transaction ends. Throws NOT_FOUND for the first one that the caller may not read.
 */
async function resolveDatasources({ viewer }: Context, tx: Transaction, keys: readonly string[]): Promise<string[]> {
  if (keys.length > MAX_MEMBERS) throw invalid('datasourceIds', `must name at most ${MAX_MEMBERS} datasources`);
  const tenantPrefix = `${viewer.tenant}:`;
  const slugs = keys.map((key) => (key.startsWith(tenantPrefix) ? key.slice(tenantPrefix.length) : key));
  const idKeys = keys.filter(isUuid);
  const slugKeys = slugs.filter((slug) => !isUuid(slug));
  const access = readable(viewer);
  const sql = new SqlParameters();
  const found = await tx.query<DatasourceKeys>({
    text: `
      select id, slug
      from dws.datasource r
      where tenant_id = ${sql.bind(viewer.tenantId)}
        and (id = any(${sql.bind(idKeys)}) or slug = any(${sql.bind(slugKeys)}))
        ${access ? `and (${sql.bindCondition(access).text})` : ''}
      order by id
      for key share`,
    values: sql.values,
  });
  const idByKey = new Map(found.flatMap(({ id, slug }) => [[id, id] as const, [slug, id] as const]));
  const ids = keys.map((key, index) => {
    const id = idByKey.get(isUuid(key) ? key.toLowerCase() : slugs[index]!);
    if (!id) throw notFound({ what: 'datasource', id: key });
    return id;
  });
  return [...new Set(ids)];
}

async function replaceMembers(ctx: Context, tx: Transaction, suite: Suite, keys: readonly string[]): Promise<void> {
  const { tenantId } = ctx.viewer;
  const listedIds = await resolveDatasources(ctx, tx, keys);
  const memberIds = [...listedIds, ...(await unreadableMembers(ctx, tx, suite))];
  if (memberIds.length > MAX_MEMBERS) {
    throw invalid('datasourceIds', `must leave at most ${MAX_MEMBERS} datasources in the suite`);
  }
  tx.execute({
    text: `delete from dws.suite_member where tenant_id = $1 and suite_id = $2`,
    values: [tenantId, suite.id],
  });
  createMembers(ctx, tx, suite.id, memberIds);
  // Members are part of the representation, so changing them bumps the version.
  suite.updatedAt = new Date();
}

/** Returns the ids of the members that the caller may not read, in order. */
async function unreadableMembers({ viewer }: Context, tx: Transaction, suite: Suite): Promise<string[]> {
  const access = MEMBER_ACCESS(viewer);
  if (access === null) return [];
  const sql = new SqlParameters();
  const members = await tx.query<{ id: string }>({
    text: `
      select datasource_id as id
      from dws.suite_member r
      where tenant_id = ${sql.bind(viewer.tenantId)} and suite_id = ${sql.bind(suite.id)}
        and not (${sql.bindCondition(access).text})
      order by position`,
    values: sql.values,
  });
  return members.map(({ id }) => id);
}

function createMembers(
  { viewer: { tenantId } }: Context,
  tx: Transaction,
  suiteId: string,
  datasourceIds: readonly string[],
): void {
  for (const [position, datasourceId] of datasourceIds.entries())
    tx.insert(newRow(SuiteMember, { tenantId, suiteId, datasourceId, position }));
}
