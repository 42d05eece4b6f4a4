import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSchema } from 'graphql';
import { expect } from 'vitest';
import { findOutdatedFiles } from '../../src/server/cli/generated-files.ts';
import { findSchemaErrors } from '../../src/server/cli/schema-commands.ts';
import {
  compareContracts,
  findCompositionErrors,
  findUnannouncedBreaks,
  findElementErrors,
} from '../../src/server/cli/schema-rules.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { contractOf, endpointsOf, openapiOf, subgraphOf } from '../../src/server/graphql/sdl.ts';
import { expectGraphqlError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createDatabase } from '../support/postgres.ts';

test('schema/ is up to date, every element is described, and no released contract is broken', async () => {
  const database = await createDatabase();
  expect(await findSchemaErrors(database.url)).toEqual([]);
  await database.drop();
});

test('a missing description, deprecation reason or permission is an error that names the element', () => {
  const schema = buildSchema(`
    "Colours." enum Colour { RED "The colour of grass." GREEN @deprecated }
    "What to paint." input Paint { colour: Colour }
    type Query { "Paints." paint(input: Paint): Boolean }`);
  expect(findElementErrors(schema)).toEqual([
    'Colour.RED has no description',
    'Paint.colour has no description',
    'Query has no description',
    'Query.paint(input) has no description',
    'Colour.GREEN is deprecated without a reason',
    'Query.paint names no permission',
  ]);
});

test('a change that breaks released clients must be named in CHANGES.md', () => {
  const released = 'type Query { old: Int kept: Int }';
  expect(findUnannouncedBreaks(released, 'type Query { kept: Int added: Int }', '')).toEqual([
    expect.stringContaining('Query.old was removed.'),
  ]);
  expect(
    findUnannouncedBreaks(released, 'type Query { kept: Int added: Int }', '- Query.old was removed. Use `kept`.'),
  ).toEqual([]);
});

test('a comparison sorts changes into breaking, dangerous and other ones', () => {
  const before = 'enum E { A } type Query { gone: Int e(x: E): E }';
  const after = 'enum E { A B } type New { f: Int } type Query { e(x: E): E n: New }';
  expect(compareContracts(before, after)).toEqual({
    breaking: ['Query.gone was removed.'],
    dangerous: ['B was added to enum type E.'],
    other: ['E.B was added.', 'New was added.', 'Query.n was added.'],
  });
});

test('an outdated file is an error with the first different line', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dws-schema-test-'));
  await writeFile(join(folder, 'a.txt'), 'one\ntwo\n');
  const files = new Map([
    ['a.txt', 'one\nthree\n'],
    ['b.txt', ''],
  ]);
  expect(await findOutdatedFiles(files, folder)).toEqual([
    expect.stringMatching(/^schema\/a\.txt is out of date from line 2;.*\n {2}- two\n {2}\+ three$/),
    expect.stringContaining('schema/b.txt is missing'),
  ]);
  await rm(folder, { recursive: true });
});

test('the subgraph composes, and an invalid one is an error', async () => {
  const subgraph = subgraphOf(await createSchema());
  expect(await findCompositionErrors(subgraph)).toEqual([]);
  expect(subgraph).toMatch(/^type User implements Node @key\(fields: "id"\) \{$/m);
  expect(
    await findCompositionErrors(subgraph.replace(/^(type User .*)@key\(fields: "id"\)/m, '$1@key(fields: "nothing")')),
  ).toEqual([expect.stringContaining('nothing')]);
});

test('every operation of the OpenAPI document names its GraphQL field and its permission', async () => {
  const { paths } = openapiOf(endpointsOf(await createSchema())) as {
    paths: Record<string, Record<string, Record<string, unknown>>>;
  };
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const incomplete = operations.filter(
    (operation) => operation['x-graphql-operation'] === undefined || !operation['x-permission'],
  );
  expect(incomplete).toEqual([]);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
});

test('a router gets the SDL without credentials, and entities by reference with the credentials of a caller', async ({
  service,
  ann,
  stranger,
  anonymous,
}) => {
  const { _service } = await anonymous.data('{ _service { sdl } }');
  expect(_service.sdl).toBe(await (await fetch(`${service.url}/graphql/subgraph.graphql`)).text());

  const entities = `query ($references: [_Any!]!) {
    _entities(representations: $references) {
      __typename
      ... on User { username }
      ... on Team { name permissions { edit } }
    }
  }`;
  const team = await stranger.creates('/teams', { name: 'Others' });
  const references = [
    { __typename: 'User', id: ann.id },
    { __typename: 'Team', id: team.id },
    { __typename: 'User', id: ann.id },
  ];
  const user = { __typename: 'User', username: 'ann' };
  expect(await ann.data(entities, { references })).toEqual({ _entities: [user, null, user] });
  expect(await stranger.data(entities, { references })).toEqual({
    _entities: [null, { __typename: 'Team', name: 'Others', permissions: { edit: true } }, null],
  });
  const refused = anonymous.gql(entities, { references });
  await expectGraphqlError(refused, 'UNAUTHENTICATED');
  expect((await refused).status).toBe(401);
  await expectGraphqlError(ann.gql(entities, { references: [{ __typename: 'Query' }] }), 'BAD_USER_INPUT');
});

test('the served SDL is the contract without federation, with an entity tag', async ({ service }) => {
  const contract = await fetch(`${service.url}/graphql/schema.graphql`);
  expect(await contract.text()).toBe(contractOf(await createSchema()));
  expect(contractOf(await createSchema())).not.toMatch(/^\s*(type |scalar |union )?_[a-zA-Z]/m);
  const again = await fetch(`${service.url}/graphql/schema.graphql`, {
    headers: { 'if-none-match': contract.headers.get('etag')! },
  });
  expect(again.status).toBe(304);
});
