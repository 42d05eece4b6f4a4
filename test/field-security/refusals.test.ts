import { expect } from 'vitest';
import { permissionOf } from '../../resolvers/support/guard.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf } from '../../src/server/graphql/sdl.ts';
import { bodyOf, documentOf, kindOf, pathOf } from '../conformance/calls.ts';
import { expectError } from '../support/expect.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { expectAlike } from './compare.ts';
import { test } from './fixture.ts';

const schema = await createSchema();
const changes = endpointsOf(schema).filter(
  ({ row, ...endpoint }) => kindOf({ row, ...endpoint }) === 'datasets' && row.method !== 'GET',
);
const mutations = Object.values(schema.getMutationType()!.getFields());

/** Permissions of a restricted share of any level (docs/contract/access.md#restricted-shares). */
const GRANTED = new Set(['dataset:read', 'dataset:addVisual']);
const isRefused = (permission: string | undefined) => permission?.startsWith('dataset:') && !GRANTED.has(permission);

/** Routes that would show, change or copy hidden parts, with the permission that they require. */
const REFUSED: Record<string, string> = {
  'PUT ': 'write',
  'DELETE ': 'delete',
  'POST /_run': 'write',
  'POST /_refresh': 'refresh',
  'POST /_syncFields': 'write',
  'PUT /owner': 'changeOwner',
  'PUT /shares/other': 'share',
  'PUT /shares/reader': 'share',
  'DELETE /shares/reader': 'share',
  'DELETE /shares/other': 'share',
};
const BODIES: Record<string, object> = {
  'PUT ': { fieldSecurityEnabled: false },
  'PUT /owner': { ownerId: 'reader' },
  'PUT /shares/reader': { accessLevel: 3 },
  'PUT /shares/other': { accessLevel: 1, restrictFields: true, visibleFields: ['qzx_region'] },
};

test.for(Object.keys(REFUSED))(
  '%s is refused without its permission',
  async (route, { world: { reader, admin, twins } }) => {
    const [method, rest] = route.split(' ') as [string, string];
    for (const { id } of twins) {
      for (const body of method === 'DELETE' ? [undefined] : [BODIES[route] ?? {}]) {
        await expectError(
          reader.request(method, `/api/datasets/${id}${rest}`, body),
          403,
          `You lack the permission dataset:${REFUSED[route]}`,
        );
      }
      expect((await admin.get(`/datasets/${id}/shares`)).body.total).toBe(2);
    }
  },
);

test('every REST route that changes a dataset is refused with equal errors', async ({ world }) => {
  const refused: string[] = [];
  for (const endpoint of changes) {
    const { status, body } = await expectAlike(world, `${endpoint.row.method} ${endpoint.row.path}`, ({ id }) =>
      world.reader.request(endpoint.row.method, `/api${pathOf(endpoint, id)}`, bodyOf(endpoint)),
    );
    if (!isRefused(endpoint.permission)) continue;
    expect([status, body.message], `${endpoint.row.method} ${endpoint.row.path}`).toEqual([
      403,
      `You lack the permission ${endpoint.permission}`,
    ]);
    refused.push(endpoint.row.path);
  }
  expect(refused.length).toBeGreaterThan(8);
});

test('every mutation that requires a permission on a dataset is refused', async ({ world: { reader, twins } }) => {
  const refused = mutations.filter(
    (field) => isRefused(permissionOf(field)) && field.args.some(({ name }) => name === 'id' || name === 'datasetId'),
  );
  expect(refused.length).toBeGreaterThan(8);
  for (const field of refused) {
    const key = field.args.some(({ name }) => name === 'datasetId') ? 'datasetId' : 'id';
    for (const { id } of twins) {
      const { errors } = await reader.gql(documentOf('Mutation', field, { [key]: JSON.stringify(id) }));
      expect(errors, field.name).toMatchObject([
        { message: `You lack the permission ${permissionOf(field)}`, extensions: { code: 'FORBIDDEN' } },
      ]);
    }
  }
});

test('field security can be changed only by users who may share', async ({ world: { admin, reader, twins } }) => {
  const [id, other] = twins.map((twin) => twin.id) as [string, string];
  for (const visible of [true, false]) {
    await expectError(
      reader.post('/dataset-field-report-access', { [id]: visible }),
      403,
      'You lack the permission dataset:share',
    );
    expect(
      await reader.gql(
        'mutation ($datasets: JSONObject!) { setDatasetFieldSecurity(datasets: $datasets) { updated datasets } }',
        { datasets: { [other]: visible } },
      ),
    ).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
  }
  for (const twin of [id, other]) expect((await admin.get(`/datasets/${twin}`)).body.fieldSecurityEnabled).toBe(true);
});

test('filters of others cannot be changed, transferred or deleted', async ({ world: { admin, reader, twins } }) => {
  for (const { id, shareFilter } of twins) {
    const path = `/datasets/${id}/filters/${shareFilter}`;
    const message = `There is no filter ${shareFilter}`;
    await expectError(reader.put(path, { criteria: {} }), 404, message);
    await expectError(reader.put(`${path}/owner`, { ownerId: reader.id }), 404, message);
    await expectError(reader.delete(path), 404, message);
    for (const mutation of [
      `updateSavedFilter(datasetId: "${id}", id: "${shareFilter}", input: { criteria: {} }) { id }`,
      `setSavedFilterOwner(datasetId: "${id}", id: "${shareFilter}", ownerId: "reader") { id }`,
      `deleteSavedFilter(datasetId: "${id}", id: "${shareFilter}")`,
    ]) {
      expect(await reader.gql(`mutation { ${mutation} }`), mutation).toMatchObject({
        errors: [{ extensions: { code: 'NOT_FOUND' } }],
      });
    }
    expect((await admin.get(path)).body).toMatchObject({ ownerId: `user:${admin.id}`, criteria: expect.anything() });
    expect((await reader.get(`/datasets/${id}/data?limit=1`)).body.total).toBe(40);
  }
  await expectError(reader.get(`/datasets/${twins[0]!.id}/filters/${UNKNOWN_ID}`), 404);
});

test('the reader cannot use the query or the datasource for a dataset of their own', async ({
  world: { reader, twins },
}) => {
  for (const { id } of twins) {
    const { datasourceId, queryId } = (await reader.get(`/datasets/${id}`)).body;
    expect(queryId ?? null).toBeNull();
    if (datasourceId)
      expect(
        await reader.post('/datasets', { name: 'Mine', datasourceId, query: 'select * from qzx_amethyst' }),
      ).toMatchObject({ status: expect.toSatisfy((status: number) => status === 403 || status === 404) });
  }
});
