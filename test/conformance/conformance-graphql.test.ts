import type { GraphQLField } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { permissionOf, rootTypes } from '../../resolvers/support/guard.ts';
import { isGlobalPermission } from '../../src/core/permissions.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf } from '../../src/server/graphql/sdl.ts';
import type { Client } from '../support/client.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { documentOf, kindOf } from './calls.ts';
import { startConformanceClients, type ConformanceClients } from './conformance-clients.ts';
import { FIXTURES, READABLE_BY_ALL } from './fixtures.ts';
import { isDeniedToReaders, kindOfField } from './permission-kinds.ts';

/* Guarantees of every root field. The tests are generated from the schema, so that a new field is tested. */

const schema = await createSchema();
const endpoints = endpointsOf(schema);

interface RootField {
  name: string;
  scope: 'read' | 'write';
  root: string;
  field: GraphQLField<unknown, unknown>;
  permission: string;
}
const rootFields = rootTypes(schema).flatMap(([scope, type]) =>
  Object.values(type!.getFields()).map((field): RootField => ({
    name: `${type!.name}.${field.name}`,
    scope,
    root: type!.name,
    field,
    permission: permissionOf(field)!,
  })),
);

let clients: ConformanceClients;
beforeAll(async () => {
  clients = await startConformanceClients();
  return () => clients.service.close();
});

const NOT_FOUND = { errors: [{ extensions: { code: 'NOT_FOUND', status: 404 } }] };

describe('every root field', () => {
  for (const { name, scope, root, field, permission } of rootFields) {
    test(`${name} names its permission`, () => expect(permission).toBeTypeOf('string'));
    if (permission === 'public' || root === 'Subscription') continue;

    test(`${name} is 401 without credentials`, async () => {
      expect(await clients.anonymous.gql(documentOf(root, field))).toMatchObject({
        status: 401,
        errors: [{ message: 'Missing authentication', extensions: { code: 'UNAUTHENTICATED', status: 401 } }],
      });
    });

    if (scope === 'write') {
      test(`${name} refuses a token that has the scope read only`, async () => {
        expect(await clients.readOnly.gql(documentOf(root, field))).toMatchObject({
          errors: [{ message: 'This token lacks the scope write', extensions: { code: 'FORBIDDEN' } }],
        });
      });
    }

    if (permission && isGlobalPermission(permission)) {
      test(`${name} refuses a caller without ${permission}`, async () => {
        expect(await clients.powerless.gql(documentOf(root, field))).toMatchObject({
          errors: [
            { message: `You lack the permission ${permission}`, extensions: { code: 'FORBIDDEN', status: 403 } },
          ],
        });
      });
    }
  }
});

describe('every root field about one resource', () => {
  for (const { name, root, field, permission } of rootFields) {
    if (root === 'Subscription') continue;
    const kind = kindOfField(field);
    // A field about a child has the id of its parent, e.g. `datasetId`.
    const key = [`${permission.split(':')[0]}Id`, 'id', 'username'].find((argument) =>
      field.args.some((one) => one.name === argument),
    );
    if (!kind || !key) continue;
    const run = (client: Client, id: string) => client.gql(documentOf(root, field, { [key]: JSON.stringify(id) }));

    test(`${name} is NOT_FOUND for an unknown id, and for a superuser of another tenant`, async () => {
      expect(await run(clients.admin, UNKNOWN_ID)).toMatchObject(NOT_FOUND);
      expect(await run(clients.stranger, clients.resources[kind]!.private)).toMatchObject(NOT_FOUND);
    });

    if (READABLE_BY_ALL.has(kind)) continue;
    test(`${name} is NOT_FOUND for a user without access`, async () => {
      expect(await run(clients.reader, clients.resources[kind]!.private)).toMatchObject(NOT_FOUND);
    });

    if (!isDeniedToReaders(permission, kind)) continue;
    test(`${name} refuses a member who can only read, naming the permission`, async () => {
      expect(await run(clients.reader, clients.resources[kind]!.shared)).toMatchObject({
        errors: [
          { message: expect.stringMatching(/permission [\w-]+:\w+/), extensions: { code: 'FORBIDDEN', status: 403 } },
        ],
      });
    });
  }
});

describe('every mutation with expectedVersion', () => {
  const versioned = rootFields.filter(({ field }) => field.args.some(({ name }) => name === 'expectedVersion'));
  const kindOfMutation = ({ field }: RootField) => kindOf(endpoints.find(({ row }) => row.field === field.name)!)!;
  /** Settings of a tenant, whose versions have tests of their own. */
  const SETTINGS = ['identity-providers', 'usage-profiles'];

  test('updates or deletes an object that Query finds', () => {
    const names = versioned.map(({ field }) => field.name);
    expect(names).toEqual(expect.arrayContaining(['updateDataset', 'deleteDataset', 'updateTag', 'deleteUser']));
    const kinds = new Set(versioned.map(kindOfMutation));
    expect([...kinds].toSorted()).toEqual([...Object.keys(FIXTURES), ...SETTINGS].toSorted());
  });

  for (const one of versioned) {
    const kind = kindOfMutation(one);
    const key = ['id', 'username'].find((argument) => one.field.args.some(({ name }) => name === argument))!;
    if (SETTINGS.includes(kind)) continue;
    test(`${one.name} refuses another version`, async () => {
      const id = JSON.stringify(clients.resources[kind]!.private);
      const document = documentOf(one.root, one.field, { [key]: id, expectedVersion: '99' });
      expect(await clients.admin.gql(document)).toMatchObject({
        errors: [{ extensions: { code: 'PRECONDITION_FAILED', status: 412 } }],
      });
    });
  }
});
