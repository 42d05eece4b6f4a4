import { getNamedType, isInterfaceType, isListType, isNonNullType, isObjectType, type GraphQLField } from 'graphql';
import { expect } from 'vitest';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { MODELS } from '../../src/services/assembly/model-registry.ts';
import { modelFor } from '../../src/services/resource/define-model.ts';
import { expectError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';

/** Indexes errors by their path. */
const byPath = (errors: { path: string[] }[]) =>
  Object.fromEntries(errors.map((error) => [error.path.join('.'), error] as const));

const schema = await createSchema();
const objectTypes = Object.values(schema.getTypeMap())
  .filter(isObjectType)
  .filter(({ name }) => !name.startsWith('__') && name !== 'Mutation' && name !== 'Subscription');

/** Whether a field looks up one record by its arguments. */
function isLookUp({ type, args }: GraphQLField<unknown, unknown>): boolean {
  const named = getNamedType(type);
  const isRecord = (isObjectType(named) || isInterfaceType(named)) && 'id' in named.getFields();
  return (
    isRecord && !isListType(isNonNullType(type) ? type.ofType : type) && args.some((arg) => isNonNullType(arg.type))
  );
}

test('every look-up of one record by its id is nullable', () => {
  const lookUps = objectTypes.flatMap((type) =>
    Object.values(type.getFields())
      .filter(isLookUp)
      .map((field) => ({ name: `${type.name}.${field.name}`, isNullable: !isNonNullType(field.type) })),
  );
  expect(lookUps.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['Query.node', 'Query.dataset', 'Query.user', 'Dataset.visual', 'Team.member']),
  );
  expect(lookUps.filter(({ isNullable }) => !isNullable)).toEqual([]);
});

test('a list in a list is never null', () => {
  const lists = objectTypes.flatMap((type) =>
    Object.values(type.getFields()).map(({ name, type: of }) => `${type.name}.${name}: ${String(of)}`),
  );
  expect(lists.filter((field) => field.includes('[['))).toEqual(['DatasetAggregate.rows: [[JSON]!]!']);
});

test('every relation to one record that permissions can hide is nullable', async ({ service }) => {
  expect(service.url).toBeTruthy();
  const relations = MODELS.map(({ entity }) => modelFor(entity)).flatMap((model) => {
    const type = schema.getType(model.name);
    const fields = isObjectType(type) ? type.getFields() : {};
    return Object.entries(model.relations).flatMap(([name, relation]) =>
      relation.kind === 'one' && relation.model().accessFilter && fields[name]
        ? [{ name: `${model.name}.${name}`, isNullable: !isNonNullType(fields[name].type) }]
        : [],
    );
  });
  expect(relations.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['DatasetReference.dataset', 'SavedFilter.dataset', 'DatasourceLink.target']),
  );
  expect(relations.filter(({ isNullable }) => !isNullable)).toEqual([]);
});

test('a missing record is null alone, with its error, and 404 in REST', async ({ ann }) => {
  const query = `{ me { username } nope: dataset(id: "zzz") { id } gone: node(id: "${UNKNOWN_ID}") { id } }`;
  // The document is compiled at its 20th use.
  for (let use = 0; use < 22; use++) {
    const { status, data, errors } = await ann.gql(query);
    expect(status).toBe(200);
    expect(data).toEqual({ me: { username: 'ann' }, nope: null, gone: null });
    expect(byPath(errors)).toMatchObject({
      nope: { message: 'There is no dataset zzz', extensions: { code: 'NOT_FOUND', status: 404 } },
      gone: { message: `There is no resource ${UNKNOWN_ID}`, extensions: { code: 'NOT_FOUND', status: 404 } },
    });
  }
  for (let use = 0; use < 3; use++) await expectError(ann.get('/datasets/zzz'), 404, 'There is no dataset zzz');
});

test('a missing child is null alone, with its error, and 404 in REST', async ({ admin }) => {
  const team = await admin.creates('/teams', { name: 'Writers' });
  const { data, errors } = await admin.gql(`{ team(id: "${team.id}") { name member(username: "bob") { role } } }`);
  expect(data).toEqual({ team: { name: 'Writers', member: null } });
  expect(errors).toMatchObject([{ path: ['team', 'member'], extensions: { code: 'NOT_FOUND', status: 404 } }]);
  await expectError(admin.get(`/teams/${team.id}/members/bob`), 404);
});
