import { beforeAll, describe, expect, test } from 'vitest';
import { permissionOf } from '../../resolvers/support/guard.ts';
import { ABILITIES, type ResourceKind } from '../../src/core/permissions.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf } from '../../src/server/graphql/sdl.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { startService, type Service } from '../support/service.ts';
import { bodyOf, documentOf, kindOf, pathOf, queryOf } from './calls.ts';
import { FIXTURES, READABLE_BY_ALL } from './fixtures.ts';

/*
 * Who may do what to whose resources (contract 3), and that nobody is shown or counted what they may not read, by any way. Made from the kinds, the route table and
 * the schema, so that what is added is tested.
 */

/** The level that each ability takes, as the contract says it: 1 View, 2 Edit, 3 Admin. */
const LEAST: Record<string, number> = {
  read: 1,
  copy: 1,
  write: 2,
  edit: 2,
  run: 2,
  refresh: 2,
  addVisual: 2,
  deleteVisual: 2,
  assignTags: 2,
  share: 3,
  delete: 3,
  changeOwner: 3,
};
/** What asks for more than the level: for superusers alone. */
const SUPERUSERS_ONLY = new Set(['refreshDatasetInternal', 'benchmarkDatasetInternal']);

/** Callers, and the level that each has on a resource: one that a user owns and shares, or one that a team owns. */
const ACTORS: Record<string, { level: number; owner: 'user' | 'team' }> = {
  'a superuser of another tenant': { level: 0, owner: 'user' },
  'somebody without a share': { level: 0, owner: 'user' },
  'somebody outside the team': { level: 0, owner: 'team' },
  'a share at level 1': { level: 1, owner: 'user' },
  'a share at level 2': { level: 2, owner: 'user' },
  'a share at level 3': { level: 3, owner: 'user' },
  'a member': { level: 1, owner: 'team' },
  'a memberPlus': { level: 2, owner: 'team' },
  'an admin of the team': { level: 3, owner: 'team' },
  'the owner': { level: 4, owner: 'user' },
  'a superuser': { level: 4, owner: 'user' },
};

const KINDS = Object.keys(FIXTURES).filter((kind) => !READABLE_BY_ALL.has(kind));
const wordOf = (kind: string) => (kind === 'queries' ? 'query' : kind.slice(0, -1)) as ResourceKind;
const oneOf = (kind: string) => (kind === 'queries' ? 'savedQuery' : wordOf(kind));
const manyOf = (kind: string) => (kind === 'queries' ? 'savedQueries' : kind);

const schema = await createSchema();
const endpoints = endpointsOf(schema);
const mutations = Object.values(schema.getMutationType()!.getFields());

let service: Service;
let admin: Client, nobody: Client, stranger: Client, owner: Client;
let team: string;
const clients: Record<string, Client> = {};

beforeAll(async () => {
  service = await startService();
  admin = clients['a superuser'] = await service.user('admin', { superuser: true });
  stranger = clients['a superuser of another tenant'] = await service.user('stranger', {
    tenant: 'other',
    superuser: true,
  });
  nobody = clients['somebody without a share'] = clients['somebody outside the team'] = await service.user('nobody');
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
}, 120_000);

/** A new resource of a kind on which the actor has their level. */
async function makeFor(kind: string, actor: string, name: string): Promise<string> {
  const { level, owner: by } = ACTORS[actor]!;
  const id = await FIXTURES[kind]!.create(admin, name, by === 'team' ? team : `user:${owner.id}`);
  if (actor.startsWith('a share'))
    expect(await admin.put(`/${kind}/${id}/shares/${clients[actor]!.id}`, { accessLevel: level })).toMatchObject({
      status: 200,
    });
  return id;
}

/** What an answer says about the caller's rights on the resource: it was not found, or refused for want of a permission, or neither. */
function verdict(status: number, message: string | undefined, id: string): string {
  if (status === 404 && message?.endsWith(` ${id}`) && !message.includes(' of ')) return 'not found';
  if (status === 403) return /^You lack the permission (\S+)$/.exec(message ?? '')?.[1] ?? 'refused';
  return 'allowed';
}

const rest = ({ status, body }: ApiResponse, id: string) => verdict(status, body.message, id);
const graphql = ({ errors }: { errors: ApiResponse['body'] }, id: string) =>
  verdict(errors?.[0]?.extensions?.status ?? 200, errors?.[0]?.message, id);

/** What must come of a call that needs a permission, e.g. `dataset:write`; `field` is the mutation behind it. */
function expected(level: number, permission: string, field: string, isSuperuser: boolean): string {
  if (level === 0) return 'not found';
  if (level < LEAST[permission.split(':')[1]!]!) return permission;
  return SUPERUSERS_ONLY.has(field) && !isSuperuser ? 'refused' : 'allowed';
}

/** The argument that names the resource: children name their parent first. */
const keyOf = (word: string, { args }: (typeof mutations)[number]): string | undefined =>
  [`${word}Id`, 'id'].find((key) => args.some(({ name }) => name === key));

/** Deleting comes last; nothing waits for a refresh. */
const last = <T>(calls: readonly T[], isDeletion: (call: T) => boolean): T[] => [
  ...calls.filter((call) => !isDeletion(call)),
  ...calls.filter(isDeletion),
];

describe.each(KINDS)('of the %s', (kind) => {
  const word = wordOf(kind);
  const changes = last(
    mutations.filter((field) => permissionOf(field)!.startsWith(`${word}:`) && keyOf(word, field)),
    ({ name }) => name.toLowerCase() === `delete${oneOf(kind)}`.toLowerCase(),
  );
  const routes = last(
    endpoints.filter((endpoint) => kindOf(endpoint) === kind && !endpoint.row.options.handler),
    ({ row }) => row.method === 'DELETE' && row.path === `/${kind}/:id`,
  );
  const abilities = (level: number) =>
    Object.fromEntries(ABILITIES[word].map((ability) => [ability, level >= LEAST[ability]!]));

  test('there are mutations and routes to try', () => {
    expect(changes.length).toBeGreaterThan(8);
    expect(routes.length).toBeGreaterThan(15);
  });

  test.each(Object.keys(ACTORS))('%s sees in lists, alone and as permissions what their level says', async (actor) => {
    const client = clients[actor]!;
    const { level } = ACTORS[actor]!;
    const name = `${actor} sees ${kind}`;
    const id = await makeFor(kind, actor, name);
    const seen = level > 0 ? [{ id }] : [];
    const listed = (await client.get(`/${kind}?q=${encodeURIComponent(name)}&sort=-name`)).body;
    expect(listed).toMatchObject({ total: seen.length, _embedded: { [`svc:${word}`]: seen } });
    expect((await client.data(`{ ${manyOf(kind)}(q: "${name}") { items { id } total } }`))[manyOf(kind)]).toEqual({
      items: seen,
      total: seen.length,
    });

    const single = await client.get(`/${kind}/${id}`);
    const told = await client.gql(`{ ${oneOf(kind)}(id: "${id}") { permissions { ${ABILITIES[word].join(' ')} } } }`);
    const permissions = await client.get(`/${kind}/${id}/permissions`);
    if (level === 0) {
      expect([rest(single, id), graphql(told, id), rest(permissions, id)]).toEqual([
        'not found',
        'not found',
        'not found',
      ]);
      return;
    }
    expect(permissions.body).toEqual(abilities(level));
    expect(told.data[oneOf(kind)].permissions).toEqual(abilities(level));
    expect(single).toMatchObject({ status: 200, body: { id, permissions: abilities(level) } });
  });

  test.each(Object.keys(ACTORS))(
    '%s does by REST what their level allows, and is told the permission that they lack',
    async (actor) => {
      const { level } = ACTORS[actor]!;
      const id = await makeFor(kind, actor, `${kind} called by ${actor}`);
      const outcomes: string[] = [],
        wanted: string[] = [];
      for (const endpoint of routes) {
        const { row, permission } = endpoint;
        const answer = await clients[actor]!.request(
          row.method,
          `/api${pathOf(endpoint, id)}${queryOf(endpoint)}`,
          bodyOf(endpoint),
          { prefer: 'respond-async' },
        );
        const line = `${row.method} ${row.path}: `;
        const least = permission.startsWith(`${word}:`) ? permission : `${word}:read`;
        const outcome = rest(answer, id);
        // What a GET shows may take more than reading the resource; then the permission is one that the level lacks.
        const lacks = row.method === 'GET' && outcome.startsWith(`${word}:`) && level < LEAST[outcome.split(':')[1]!]!;
        outcomes.push(line + outcome);
        wanted.push(
          line + (lacks && level > 0 ? outcome : expected(level, least, row.field ?? '', actor === 'a superuser')),
        );
      }
      expect(outcomes).toEqual(wanted);
    },
  );

  test.each(Object.keys(ACTORS))(
    '%s does by GraphQL what their level allows, and is told the permission that they lack',
    async (actor) => {
      const id = await makeFor(kind, actor, `${kind} told by ${actor}`);
      const outcomes: string[] = [],
        wanted: string[] = [];
      for (const field of changes) {
        const document = documentOf('Mutation', field, { [keyOf(word, field)!]: JSON.stringify(id) });
        const lazily = field.args.some(({ name }) => name === 'wait')
          ? document.replace('(', '(wait: false, ')
          : document;
        outcomes.push(`${field.name}: ${graphql(await clients[actor]!.gql(lazily), id)}`);
        wanted.push(
          `${field.name}: ${expected(ACTORS[actor]!.level, permissionOf(field)!, field.name, actor === 'a superuser')}`,
        );
      }
      expect(outcomes).toEqual(wanted);
    },
  );
});

describe('what the caller may not read', () => {
  const shown = async (client: Client, paths: readonly string[]): Promise<Record<string, unknown>> =>
    Object.fromEntries(
      await Promise.all(
        paths.map(async (path) => {
          const { status, body } = await client.get(path);
          return [path, { status, body }];
        }),
      ),
    );

  test('leaves no trace in any list, total, search or filter', async () => {
    const tag = (await admin.creates('/tags', { name: 'traced' })).id;
    const folder = (await admin.creates('/folders', { name: 'traced' })).id;
    const datasource = await FIXTURES['datasources']!.create(admin, 'traced open source');
    await admin.put(`/datasources/${datasource}/shares/nobody`, { accessLevel: 3 });
    const lists = endpoints
      .filter(
        ({ row, presentation, public: open }) =>
          row.method === 'GET' && presentation?.collection && !open && !row.path.includes(':'),
      )
      .map((endpoint) => endpoint.row.path + (queryOf(endpoint) || '?'));
    const paths = [
      ...lists.filter((path) => !/^\/(tags|folders|users|teams|suites|sessions|tokens)\b/.test(path)),
      ...KINDS.flatMap((kind) =>
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
      `/search?q=traced&kinds=${KINDS.map(wordOf).join(',')}`,
      '/me/favorites',
      `/datasources/${datasource}/references`,
      `/datasources/${datasource}/tags`,
    ];
    const document = `{ ${KINDS.map((kind) => `${manyOf(kind)}(tag: "traced") { total count items { id name } }`).join(' ')} search(q: "traced") { total items { id name } } favorites { total } datasource(id: "${datasource}") { references { total items { id name } } } }`;
    const before = [await shown(nobody, paths), await nobody.data(document)];
    const strangers = lists.filter((path) => !/^\/(sessions|tokens)\b/.test(path));
    const far = await shown(stranger, strangers);

    for (const kind of KINDS) {
      for (const ownerId of [undefined, team]) {
        const id = await FIXTURES[kind]!.create(admin, `traced ${kind}`, ownerId);
        await admin.put(`/${kind}/${id}/shares/nobody`, { accessLevel: 1 });
        expect(await nobody.put(`/${kind}/${id}/favorite`)).toMatchObject({ status: 200 });
        expect(
          await admin.put(`/${kind}/${id}`, { tags: [tag], folderId: folder, description: 'traced' }),
        ).toMatchObject({ status: 200 });
        expect(await admin.delete(`/${kind}/${id}/shares/nobody`)).toMatchObject({ status: 204 });
      }
    }
    await admin.creates('/queries', { name: 'traced user', datasourceId: datasource, query: 'select 1' });

    // The number alone, and only to who may delete it and is told it there in any case (contract 5).
    const hidden = `/datasources/${datasource}/references`;
    const after = await shown(nobody, paths);
    expect(after[hidden]).toMatchObject({ body: { hidden: 1, total: 0 } });
    Object.assign((after[hidden] as { body: object }).body, { hidden: 0 });
    expect([after, await nobody.data(document)]).toEqual(before);
    expect(await shown(stranger, strangers)).toEqual(far);
    expect((await admin.get('/search?q=traced&kinds=query')).body.total).toBe(3);
    for (const query of [`tag=${tag}`, 'tag=traced', `folderId=${folder}`, `ownerId=${owner.id}`])
      expect(await stranger.get(`/datasets?${query}`), query).toMatchObject({ status: 404 });
  });
});
