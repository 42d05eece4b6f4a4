import { beforeAll, describe, expect, test } from 'vitest';
import { permissionOf } from '../../resolvers/support/guard.ts';
import { ABILITIES, type ResourceKind } from '../../src/core/permissions.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf } from '../../src/server/graphql/sdl.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { expectBody } from '../support/expect.ts';
import { startService, type Service } from '../support/service.ts';
import { documentOf, kindOf, pathOf, queryOf, sentTo } from './calls.ts';
import { FIXTURES, namesOf, OWNED_PATHS, SHARED_PATHS, singularOf } from './fixtures.ts';

/*
 * Access to resources (docs/contract/access.md#access): what each level allows, and that no response contains or counts
 * a resource that the caller may not read. Derived from the kinds, the routes and the schema, so that additions are
 * tested.
 */

/** The level that each ability requires (docs/contract/access.md#shares): 1 View, 2 Edit, 3 Admin. */
const REQUIRED_LEVEL: Record<string, number> = {
  read: 1,
  copy: 1,
  write: 2,
  edit: 2,
  run: 2,
  refresh: 2,
  sync: 2,
  addVisual: 2,
  deleteVisual: 2,
  assignTags: 2,
  share: 3,
  delete: 3,
  changeOwner: 3,
};
/** Level of the owner: of a user, or of an administrator of the team that owns the resource. */
const OWNER_LEVEL = 3.5;
/** Levels that abilities require on one kind: a job is deleted by its owner, a library is shared by all who write it. */
const REQUIRED_OF_KIND: Record<string, number> = {
  'job:delete': OWNER_LEVEL,
  'job:changeOwner': 2,
  'agent:delete': 2,
  'library:share': 2,
};
/** Returns the level that a permission requires, e.g. `dataset:write`. */
function requiredLevel(permission: string): number {
  return REQUIRED_OF_KIND[permission] ?? REQUIRED_LEVEL[permission.split(':')[1]!]!;
}
/** Mutations for superusers only. */
const SUPERUSERS_ONLY = new Set(['refreshDatasetInternal', 'benchmarkDatasetInternal']);

/** Callers with their level on a resource of a user, who shares it, or on a resource of a team. */
const ACTORS: Record<string, { level: number; owner: 'user' | 'team' }> = {
  'a superuser of another tenant': { level: 0, owner: 'user' },
  'a user without a share': { level: 0, owner: 'user' },
  'a user outside the team': { level: 0, owner: 'team' },
  'a share at level 1': { level: 1, owner: 'user' },
  'a share at level 2': { level: 2, owner: 'user' },
  'a share at level 3': { level: 3, owner: 'user' },
  'a member': { level: 1, owner: 'team' },
  'a memberPlus': { level: 2, owner: 'team' },
  'an admin of the team': { level: OWNER_LEVEL, owner: 'team' },
  'the owner': { level: 4, owner: 'user' },
  'a superuser': { level: 4, owner: 'user' },
};

/** Returns the callers on a kind. No share of a library has the level 2 or 3. */
const actorsOf = (kind: string): string[] =>
  Object.keys(ACTORS).filter((actor) => SHARED_PATHS.includes(kind) || !/^a share at level [23]$/.test(actor));

const schema = await createSchema();
const endpoints = endpointsOf(schema);
const mutations = Object.values(schema.getMutationType()!.getFields());

let service: Service;
let admin: Client, outsider: Client, stranger: Client, owner: Client;
let team: string;
const clients: Record<string, Client> = {};

beforeAll(async () => {
  service = await startService();
  admin = clients['a superuser'] = await service.user('admin', { superuser: true });
  stranger = clients['a superuser of another tenant'] = await service.user('stranger', {
    tenant: 'other',
    superuser: true,
  });
  outsider = clients['a user without a share'] = clients['a user outside the team'] = await service.user('outsider');
  owner = clients['the owner'] = await service.user('owner');
  team = `team:${(await admin.creates('/teams', { name: 'Owners' })).id}`;
  for (const name of Object.keys(ACTORS)) {
    const client = (clients[name] ??= await service.user(name.replaceAll(' ', '-')));
    const role = { 'a member': 'member', 'a memberPlus': 'memberPlus', 'an admin of the team': 'admin' }[name];
    if (role)
      expect(await admin.put(`/teams/${team.slice(5)}/members/${client.username}`, { role })).toMatchObject({
        status: 200,
      });
  }
  return () => service.close();
});

/** A new resource of a kind on which the actor has their level. */
async function createFor(kind: string, actor: string, name: string): Promise<string> {
  const { level, owner: by } = ACTORS[actor]!;
  const id = await FIXTURES[kind]!.create(admin, name, by === 'team' ? team : `user:${owner.id}`);
  if (actor.startsWith('a share'))
    expect(await admin.put(`/${kind}/${id}/shares/${clients[actor]!.id}`, { accessLevel: level })).toMatchObject({
      status: 200,
    });
  return id;
}

/**
 * Returns what a response shows of the caller's access to the resource: `not found`, the permission that is lacking,
 * `refused` or `allowed`.
 */
function outcomeOf(status: number, message: string | undefined, id: string): string {
  if (status === 404 && message?.endsWith(` ${id}`) && !message.includes(' of ')) return 'not found';
  if (status === 403) return /^You lack the permission (\S+)$/.exec(message ?? '')?.[1] ?? 'refused';
  return 'allowed';
}

const restOutcome = ({ status, body }: ApiResponse, id: string) => outcomeOf(status, body.message, id);
const graphqlOutcome = ({ errors }: { errors: ApiResponse['body'] }, id: string) =>
  outcomeOf(errors?.[0]?.extensions?.status ?? 200, errors?.[0]?.message, id);

/** Returns the expected outcome of a call that requires a permission, e.g. `dataset:write`. `field` is its mutation. */
function expectedOutcome(level: number, permission: string, field: string, isSuperuser: boolean): string {
  if (level === 0) return 'not found';
  if (level < requiredLevel(permission)) return permission;
  return SUPERUSERS_ONLY.has(field) && !isSuperuser ? 'refused' : 'allowed';
}

/** Returns the name of the argument for the id of the resource, or of the parent of a child. */
const idArgumentOf = (word: string, { args }: (typeof mutations)[number]): string | undefined =>
  [`${word}Id`, 'id'].find((key) => args.some(({ name }) => name === key));

/** Moves the deletion of the resource to the end. */
const deletionLast = <T>(calls: readonly T[], isDeletion: (call: T) => boolean): T[] => [
  ...calls.filter((call) => !isDeletion(call)),
  ...calls.filter(isDeletion),
];

describe.each(OWNED_PATHS)('of the %s', (kind) => {
  const { one, many } = namesOf(kind);
  const word = singularOf(kind) as ResourceKind;
  const changes = deletionLast(
    mutations.filter((field) => permissionOf(field)!.startsWith(`${word}:`) && idArgumentOf(word, field)),
    ({ name }) => name.toLowerCase() === `delete${one}`.toLowerCase(),
  );
  const routes = deletionLast(
    endpoints.filter((endpoint) => kindOf(endpoint) === kind && !endpoint.row.options.handler),
    ({ row }) => row.method === 'DELETE' && row.path === `/${kind}/:id`,
  );
  const abilities = (level: number) =>
    Object.fromEntries(ABILITIES[word].map((ability) => [ability, level >= requiredLevel(`${word}:${ability}`)]));

  test('there are mutations and routes to test', () => {
    expect(changes.length).toBeGreaterThan(8);
    expect(routes.length).toBeGreaterThan(15);
  });

  test.each(actorsOf(kind))(
    '%s reads the resource in lists and alone, and their permissions, by their level',
    async (actor) => {
      const client = clients[actor]!;
      const { level } = ACTORS[actor]!;
      const name = `${actor} sees ${kind}`;
      const id = await createFor(kind, actor, name);
      const seen = level > 0 ? [{ id }] : [];
      const listed = (await client.get(`/${kind}?q=${encodeURIComponent(name)}&sort=-name`)).body;
      expect(listed).toMatchObject({ total: seen.length, _embedded: { [`svc:${word}`]: seen } });
      expect((await client.data(`{ ${many}(q: "${name}") { items { id } total } }`))[many]).toEqual({
        items: seen,
        total: seen.length,
      });

      const single = await client.get(`/${kind}/${id}`);
      const singleInGraphql = await client.gql(
        `{ ${one}(id: "${id}") { permissions { ${ABILITIES[word].join(' ')} } } }`,
      );
      const permissions = await client.get(`/${kind}/${id}/permissions`);
      if (level === 0) {
        expect([restOutcome(single, id), graphqlOutcome(singleInGraphql, id), restOutcome(permissions, id)]).toEqual([
          'not found',
          'not found',
          'not found',
        ]);
        return;
      }
      expect(permissions.body).toEqual(abilities(level));
      expect(singleInGraphql.data[one].permissions).toEqual(abilities(level));
      await expectBody(single, 200, { id, permissions: abilities(level) });
    },
  );

  test.each(actorsOf(kind))(
    '%s may do by REST what their level allows, and the error names the lacking permission',
    async (actor) => {
      const { level } = ACTORS[actor]!;
      const id = await createFor(kind, actor, `${kind} called by ${actor}`);
      const outcomes: string[] = [];
      const expected: string[] = [];
      for (const endpoint of routes) {
        const { row, permission } = endpoint;
        const response = await clients[actor]!.request(
          row.method,
          `/api${pathOf(endpoint, id)}${queryOf(endpoint)}`,
          sentTo(endpoint),
          { prefer: 'respond-async' },
        );
        const line = `${row.method} ${row.path}: `;
        const required = permission.startsWith(`${word}:`) ? permission : `${word}:read`;
        const outcome = restOutcome(response, id);
        // A GET may require more than `read`. The permission in the error is then one that the level lacks.
        const lacks = row.method === 'GET' && outcome.startsWith(`${word}:`) && level < requiredLevel(outcome);
        outcomes.push(line + outcome);
        expected.push(
          line +
            (lacks && level > 0 ? outcome : expectedOutcome(level, required, row.field ?? '', actor === 'a superuser')),
        );
      }
      expect(outcomes).toEqual(expected);
    },
  );

  test.each(actorsOf(kind))(
    '%s may do by GraphQL what their level allows, and the error names the lacking permission',
    async (actor) => {
      const { level } = ACTORS[actor]!;
      const id = await createFor(kind, actor, `${kind} in GraphQL by ${actor}`);
      const outcomes: string[] = [];
      const expected: string[] = [];
      for (const field of changes) {
        const document = documentOf('Mutation', field, { [idArgumentOf(word, field)!]: JSON.stringify(id) });
        const withoutWaiting = field.args.some(({ name }) => name === 'wait')
          ? document.replace('(', '(wait: false, ')
          : document;
        outcomes.push(`${field.name}: ${graphqlOutcome(await clients[actor]!.gql(withoutWaiting), id)}`);
        const outcome = expectedOutcome(level, permissionOf(field)!, field.name, actor === 'a superuser');
        expected.push(`${field.name}: ${outcome}`);
      }
      expect(outcomes).toEqual(expected);
    },
  );
});

describe('resources that the caller may not read', () => {
  const readAll = async (client: Client, paths: readonly string[]): Promise<Record<string, unknown>> =>
    Object.fromEntries(
      await Promise.all(
        paths.map(async (path) => {
          const { status, body } = await client.get(path);
          return [path, { status, body }];
        }),
      ),
    );

  test('leave no trace in any list, total, search or filter', async () => {
    const tag = (await admin.creates('/tags', { name: 'traced' })).id;
    const folder = (await admin.creates('/folders', { name: 'traced' })).id;
    const datasource = await FIXTURES['datasources']!.create(admin, 'traced open source');
    await admin.put(`/datasources/${datasource}/shares/outsider`, { accessLevel: 3 });
    const lists = endpoints
      .filter(
        ({ row, presentation, public: open }) =>
          row.method === 'GET' && presentation?.collection && !open && !row.path.includes(':'),
      )
      .map((endpoint) => endpoint.row.path + (queryOf(endpoint) || '?'));
    const paths = [
      ...lists.filter((path) => !/^\/(tags|folders|users|teams|suites|sessions|tokens)\b/.test(path)),
      ...OWNED_PATHS.flatMap((kind) =>
        [
          'q=traced',
          'sort=-createdAt&limit=1',
          `tag=${tag}`,
          'tag=traced',
          'favorite=true',
          'favorite=false',
          `folderId=${folder}`,
          `ownerId=${admin.id}`,
          `ownerId=${team}`,
        ].map((query) => `/${kind}?${query}`),
      ),
      '/search?q=traced',
      '/search?q=tracde',
      '/search?q=traced&start=5',
      `/search?q=traced&kinds=${OWNED_PATHS.map(singularOf).join(',')}`,
      '/me/favorites',
      `/datasources/${datasource}/references`,
      `/datasources/${datasource}/tags`,
    ];
    const listFields = OWNED_PATHS.map(
      (kind) => `${namesOf(kind).many}(tag: "traced") { total count items { id name } }`,
    );
    const document = `{
      ${listFields.join('\n')}
      search(q: "traced") { total items { resourceId name } }
      favorites { total }
      datasource(id: "${datasource}") { references { total items { id name } } }
    }`;
    const before = [await readAll(outsider, paths), await outsider.data(document)];
    const strangers = lists.filter((path) => !/^\/(sessions|tokens)\b/.test(path));
    const far = await readAll(stranger, strangers);

    for (const kind of OWNED_PATHS) {
      for (const ownerId of [undefined, team]) {
        const id = await FIXTURES[kind]!.create(admin, `traced ${kind}`, ownerId);
        await admin.put(`/${kind}/${id}/shares/outsider`, { accessLevel: 1 });
        expect(await outsider.put(`/${kind}/${id}/favorite`)).toMatchObject({ status: 200 });
        expect(
          await admin.put(`/${kind}/${id}`, { tags: [tag], folderId: folder, description: 'traced' }),
        ).toMatchObject({ status: 200 });
        expect(await admin.delete(`/${kind}/${id}/shares/outsider`)).toMatchObject({ status: 204 });
      }
    }
    await admin.creates('/queries', { name: 'traced user', datasourceId: datasource, query: 'select 1' });

    // Only the number of hidden references, for a caller who may delete the resource
    // (docs/contract/resources.md#references).
    const hidden = `/datasources/${datasource}/references`;
    const after = await readAll(outsider, paths);
    expect(after[hidden]).toMatchObject({ body: { hidden: 1, total: 0 } });
    Object.assign((after[hidden] as { body: object }).body, { hidden: 0 });
    expect([after, await outsider.data(document)]).toEqual(before);
    expect(await readAll(stranger, strangers)).toEqual(far);
    expect((await admin.get('/search?q=traced&kinds=query')).body.total).toBe(3);
    for (const query of [`tag=${tag}`, 'tag=traced', `folderId=${folder}`, `ownerId=${owner.id}`])
      expect(await stranger.get(`/datasets?${query}`), query).toMatchObject({ status: 404 });
  });
});
