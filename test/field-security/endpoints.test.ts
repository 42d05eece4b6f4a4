import { getNamedType, isCompositeType, type GraphQLObjectType } from 'graphql';
import { expect } from 'vitest';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf } from '../../src/server/graphql/sdl.ts';
import { kindOf, queryOf } from '../conformance/calls.ts';
import { expectError } from '../support/expect.ts';
import { openSocket } from '../support/follow-operation.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { expectAlike, expectNoSecret, normalize } from './compare.ts';
import { test, type Twin } from './fixture.ts';
import { fieldCall, selectAll, type Literals } from './select-all.ts';

/* The endpoints are read from the route table and the schema, so that later ones are included. */

const schema = await createSchema();
const endpoints = endpointsOf(schema).filter((endpoint) => kindOf(endpoint) === 'datasets');
const Dataset = schema.getType('Dataset') as GraphQLObjectType;

test('twins are equal in messages of subscriptions', async ({ world }) => {
  const { admin, reader } = world;
  const messages = await expectAlike(world, 'datasetUpdated', async (twin) => {
    const socket = openSocket(reader);
    const received: unknown[] = [];
    try {
      const document = `subscription ($id: ID!) { datasetUpdated(id: $id) { ${selectPlain(twin, reader.id)} } }`;
      for await (const message of socket.iterate<{ datasetUpdated: { records: number } }>(document, { id: twin.id })) {
        received.push(message);
        if (received.length === 2) break;
        expect((await admin.post(`/datasets/${twin.id}/_refresh`, {})).status).toBe(200);
      }
    } finally {
      await socket.dispose();
    }
    return received as { data: { datasetUpdated: { records: number } }; errors?: unknown }[];
  });
  for (const { data, errors } of messages) expect([errors, data.datasetUpdated.records]).toEqual([undefined, 40]);
});

test('twins are equal in every GET route below a dataset', async ({ world }) => {
  const { reader, other } = world;
  const seconds: ((twin: Twin) => string)[] = [
    () => reader.id,
    () => other.id,
    () => 'reader',
    (twin) => twin.shareFilter,
    (twin) => twin.teamFilter,
    (twin) => twin.ownFilter,
    () => UNKNOWN_ID,
  ];
  let sent = 0;
  for (const endpoint of endpoints.filter(({ row }) => row.method === 'GET' && !row.options.handler)) {
    const places = endpoint.row.path.match(/:\w+/g)!.length;
    for (const second of places > 1 ? seconds : seconds.slice(0, 1)) {
      const pathOf = (twin: Twin) => {
        let place = 0;
        return endpoint.row.path.replace(/:\w+\*?/g, () => (place++ === 0 ? twin.id : second(twin)));
      };
      await expectAlike(world, endpoint.row.path, (twin) => reader.get(`${pathOf(twin)}${queryOf(endpoint)}`));
      sent += 1;
    }
  }
  expect(sent).toBeGreaterThan(20);
});

test('twins are equal by every link, by slug and by natural id', async ({ world }) => {
  const { body } = await world.reader.get(`/datasets/${world.twins[0]!.id}`);
  const { curies: _, ...links } = body._links as Record<string, { templated?: true }>;
  for (const rel of Object.keys(links).filter((name) => !links[name]!.templated))
    await expectAlike(world, rel, async (twin) =>
      world.reader.get((await world.reader.get(`/datasets/${twin.id}`)).body._links[rel].href.slice(4)),
    );
  expect(await expectAlike(world, 'slug', ({ slug }) => world.reader.get(`/datasets/${slug}`))).toMatchObject({
    status: 200,
  });
  expect(
    await expectAlike(world, 'natural id', ({ slug }) => world.reader.get(`/datasets/default:${slug}/data`)),
  ).toMatchObject({ status: 200 });
});

const literalsOf = (twin: Twin, reader: string): Literals => ({
  principalId: JSON.stringify(reader),
  principal: JSON.stringify(reader),
  tagId: JSON.stringify(UNKNOWN_ID),
  id: JSON.stringify(UNKNOWN_ID),
  'filter.id': JSON.stringify(twin.teamFilter),
  measures: '[{ fn: COUNT, as: "n" }]',
});

test.for(Object.keys(Dataset.getFields()))(
  'twins are equal in the field `%s` with all nested fields',
  async (name, { world }) => {
    const field = Dataset.getFields()[name]!;
    await expectAlike(world, name, async (twin) => {
      const literals = literalsOf(twin, world.reader.id);
      const call = fieldCall(field, literals);
      expect(call, `${name} requires an argument without a literal in this test`).not.toBeNull();
      const named = getNamedType(field.type);
      const inner = isCompositeType(named) ? ` { ${selectAll(named, 2, literals, ['Dataset'])} }` : '';
      return world.reader.gql(`{ dataset(id: "${twin.id}") { ${call}${inner} } }`);
    });
  },
);

/** Selects all fields whose arguments have literals of existing objects. */
const selectPlain = (twin: Twin, reader: string): string =>
  selectAll(Dataset, 1, {
    principalId: JSON.stringify(reader),
    'filter.id': JSON.stringify(twin.teamFilter),
    measures: '[{ fn: COUNT, as: "n" }]',
  });

/** GraphQL documents that return a dataset, by description. */
const ROOTS: Record<string, (twin: Twin, all: string) => string> = {
  'a list': ({ slug }, all) => `{ datasets(q: "${slug}") { items { ${all} } total } }`,
  'a sorted list': ({ slug }, all) => `{ datasets(q: "${slug}", sort: "-records") { items { ${all} } total } }`,
  'a node': ({ id }, all) => `{ node(id: "${id}") { __typename ... on Dataset { ${all} } } }`,
  'a search': ({ slug }, all) =>
    `{ search(q: "${slug}") { total items { name description score node { __typename ... on Dataset { ${all} } } } } }`,
  'a reference of a federation': ({ id }, all) =>
    `{ _entities(representations: [{ __typename: "Dataset", id: "${id}" }]) { __typename ... on Dataset { ${all} } } }`,
  'its filters': ({ id }, all) =>
    `{ savedFilters(datasets: ["${id}"]) { total items { name criteria problem dataset { ${all} } } } }`,
};

test.for(Object.keys(ROOTS))('twins are equal in %s', async (root, { world }) => {
  const result = await expectAlike(world, root, (twin) =>
    world.reader.gql(ROOTS[root]!(twin, selectPlain(twin, world.reader.id))),
  );
  expect(result.errors, JSON.stringify(result.errors)).toBeUndefined();
});

test('twins are equal in favorites', async ({ world }) => {
  const { reader } = world;
  const result = await expectAlike(world, 'favourites', async ({ id }) => {
    const marked = await reader.put(`/datasets/${id}/favorite`);
    const [listed, byGraphql] = [
      await reader.get('/me/favorites'),
      await reader.gql('{ favorites { total items { kind name } } }'),
    ];
    await reader.delete(`/datasets/${id}/favorite`);
    return { marked: normalize(marked, world.twins[0]!), body: listed.body, data: byGraphql.data };
  });
  expect(result.data.favorites.total).toBe(1);
});

test('a search for hidden texts finds nothing', async ({ world }) => {
  const { reader } = world;
  for (const q of ['qzx', 'qzx_region', 'xanadu', 'qzx of the share', 'qzx label', 'salary', 'qzx source']) {
    expect((await reader.get(`/search?q=${encodeURIComponent(q)}`)).body, q).toMatchObject({ total: 0 });
    expect((await reader.get(`/datasets?q=${encodeURIComponent(q)}`)).body, q).toMatchObject({ total: 0 });
    expect((await reader.get(`/dataset-filters?q=${encodeURIComponent(q)}`)).body, q).toMatchObject({ total: 0 });
  }
});

test('operations of others are not found', async ({ world }) => {
  const { reader } = world;
  for (const twin of world.twins) {
    for (const path of [`/progress/${twin.refresh}`, `/progress/${twin.refresh}/events`])
      expect(await reader.get(path), path).toMatchObject({ status: 404 });
    await expectError(reader.delete(`/progress/${twin.refresh}`), 404);
    expect((await reader.get(`/progress?resource=${twin.id}`)).body).toMatchObject({ total: 0 });
    const result = await reader.gql(`{ operation(id: "${twin.refresh}") { current total message result } }`);
    expect(result.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
    expectNoSecret(normalize(result, twin));
  }
});
