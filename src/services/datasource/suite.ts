import { SuiteMember } from '../../../entities/suite-member.ts';
import { Suite } from '../../../entities/suite.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { checkOptionalText, checkText, invalid } from '../../core/input-checks.ts';
import type { Transaction } from '../../core/platform.ts';
import { SqlParameters } from '../../core/read/sql-parameters.ts';
import { readable, readableThrough } from '../resource/access-filter.ts';
import { loadUnowned, type UnownedKind } from '../resource/unowned-kind.ts';

export const SUITE: UnownedKind<Suite> = { entity: Suite, what: 'suite', table: 'suite' };

export interface SuiteInput {
  name?: string | null;
  description?: string | null;
  /** Ids, slugs or natural ids of datasources, in order; naming one twice does nothing more. */
  datasourceIds?: string[] | null;
}

/** Makes a suite of datasources that the caller may read. Answers the id. */
export async function create(ctx: Context, { name, description, datasourceIds }: SuiteInput): Promise<string> {
  const { tenantId, userId } = ctx.viewer;
  const common = { name: checkText(name, 'name'), description: checkOptionalText(description ?? null, 'description') };
  return ctx.transaction(async (tx) => {
    const members = await datasourcesOf(ctx, tx, datasourceIds ?? []);
    const suite = tx.em.create(Suite, { tenantId, ...common, creatorId: userId }, { partial: true });
    await tx.em.persist(suite).flush();
    putMembers(ctx, tx, suite.id, members);
    return suite.id;
  });
}

/** Changes a suite. Members that the caller does not see stay in it, behind those that they name. Answers the id. */
export async function update(
  ctx: Context,
  id: string,
  { name, description, datasourceIds }: SuiteInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const suite = await loadUnowned(ctx, tx, SUITE, id, 'suite:write', { ifMatch: ctx.ifMatch });
    if (name !== undefined) suite.name = checkText(name, 'name');
    if (description !== undefined) suite.description = checkOptionalText(description, 'description');
    if (datasourceIds !== undefined) await changeMembers(ctx, tx, suite, datasourceIds ?? []);
    return suite.id;
  });
}

/** Deletes a suite; its datasources stay. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    tx.em.remove(await loadUnowned(ctx, tx, SUITE, id, 'suite:delete', { ifMatch: ctx.ifMatch }));
  });
}

/** Of a suite's members everybody sees those that they may read. */
export const MEMBER_ACCESS = readableThrough('datasource', 'datasource_id');

const MAX_MEMBERS = 1000;

interface Found extends Record<string, unknown> {
  id: string;
  slug: string;
}

/** The ids of datasources in the order in which they are named; 404 for the first that the caller may not read. They stay until the transaction ends. */
async function datasourcesOf({ viewer }: Context, tx: Transaction, keys: readonly string[]): Promise<string[]> {
  if (keys.length > MAX_MEMBERS) throw invalid('datasourceIds', `must name at most ${MAX_MEMBERS} datasources`);
  const words = keys.map((key) => (key.startsWith(`${viewer.tenant}:`) ? key.slice(viewer.tenant.length + 1) : key));
  const access = readable(viewer);
  const sql = new SqlParameters();
  const tenant = sql.bind(viewer.tenantId);
  const ofKeys = `id = any(${sql.bind(keys.filter(isUuid))}) or slug = any(${sql.bind(words.filter((word) => !isUuid(word)))})`;
  const readableOnly = access ? `and (${sql.bindCondition(access).text})` : '';
  const found = await tx.query<Found>({
    text: `select id, slug
      from dws.datasource r
      where tenant_id = ${tenant} and (${ofKeys}) ${readableOnly}
      order by id
      for key share`,
    values: sql.values,
  });
  const ids = new Map(
    found.flatMap(({ id, slug }) => [
      [id, id],
      [slug, id],
    ]),
  );
  return [
    ...new Set(
      keys.map((key, index) => {
        const id = ids.get(isUuid(key) ? key.toLowerCase() : words[index]!);
        if (!id) throw notFound({ what: 'datasource', id: key });
        return id;
      }),
    ),
  ];
}

async function changeMembers(ctx: Context, tx: Transaction, suite: Suite, keys: readonly string[]): Promise<void> {
  const { viewer } = ctx;
  const wanted = await datasourcesOf(ctx, tx, keys);
  const members = [...wanted, ...(await hiddenMembers(ctx, tx, suite.id))];
  if (members.length > MAX_MEMBERS)
    throw invalid('datasourceIds', `must leave at most ${MAX_MEMBERS} datasources in the suite`);
  await tx.query({
    text: `delete from dws.suite_member where tenant_id = $1 and suite_id = $2`,
    values: [viewer.tenantId, suite.id],
  });
  putMembers(ctx, tx, suite.id, members);
  // Its members are a part of it: who reads it again must see another version.
  suite.updatedAt = new Date();
}

/** Returns the members of a suite that the caller may not read, in their order. */
async function hiddenMembers({ viewer }: Context, tx: Transaction, suiteId: string): Promise<string[]> {
  const access = MEMBER_ACCESS(viewer);
  if (access === null) return [];
  const sql = new SqlParameters();
  const ofSuite = `tenant_id = ${sql.bind(viewer.tenantId)} and suite_id = ${sql.bind(suiteId)}`;
  const members = await tx.query<{ id: string }>({
    text: `select datasource_id as id
      from dws.suite_member r
      where ${ofSuite} and not (${sql.bindCondition(access).text})
      order by position`,
    values: sql.values,
  });
  return members.map(({ id }) => id);
}

function putMembers(
  { viewer: { tenantId } }: Context,
  tx: Transaction,
  suiteId: string,
  datasourceIds: readonly string[],
): void {
  for (const [position, datasourceId] of datasourceIds.entries())
    tx.em.persist(tx.em.create(SuiteMember, { tenantId, suiteId, datasourceId, position }, { partial: true }));
}
