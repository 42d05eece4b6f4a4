import { getNamedType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf } from '../../src/server/graphql/sdl.ts';
import { upload } from '../datasource/replacement.ts';
import type { Client } from '../support/client.ts';
import { expectError, expectGraphqlError } from '../support/expect.ts';
import { startService, type Service } from '../support/service.ts';

/* Parts of lists below a resource (docs/contract/apis.md#lists), in both APIs. */

const schema = await createSchema();
const collections = endpointsOf(schema).filter(({ presentation }) => presentation?.collection);

let service: Service;
let admin: Client;
let reportId: string;
let tagIds: string[];
let datasetId: string;

beforeAll(async () => {
  service = await startService();
  admin = await service.user('admin', { superuser: true });
  const tags = ['one', 'two', 'three', 'four', 'five'];
  tagIds = [];
  for (const name of tags) tagIds.push((await admin.creates('/tags', { name })).id);
  datasetId = (await upload(admin, 'id,name\n1,Ann\n', 'people.csv')).id;
  reportId = (await admin.creates('/reports', { name: 'Sales', tags: tagIds })).id;
});
afterAll(() => service.close());

describe('a collection', () => {
  test('takes limit and start, whichever it is', () => {
    expect(collections.length).toBeGreaterThan(40);
    const without = collections.filter(({ plan }) => {
      const names = plan!.chain.at(-1)!.field.args.map(({ name }) => name);
      return !names.includes('limit') || !names.includes('start');
    });
    expect(without.map(({ row }) => `${row.method} ${row.path}`)).toEqual([]);
  });

  test('below a resource returns all items, and a part with its total and links', async () => {
    const path = `/reports/${reportId}/tags`;
    const idsIn = ({ body }: Awaited<ReturnType<Client['get']>>) =>
      body._embedded['svc:tag-entity'].map(({ tagId }: { tagId: string }) => tagId);
    const all = await admin.get(path);
    expect(idsIn(all)).toEqual(tagIds);
    expect(all.body).toMatchObject({ start: 0, count: 5, total: 5 });
    expect(Object.keys(all.body._links)).toEqual(['self', 'first', 'last', 'up', 'curies']);

    const part = await admin.get(`${path}?limit=2&start=2`);
    expect(idsIn(part)).toEqual(tagIds.slice(2, 4));
    expect(part.body).toMatchObject({
      start: 2,
      count: 2,
      total: 5,
      _links: {
        self: { href: `/api${path}?limit=2&start=2` },
        first: { href: `/api${path}?limit=2` },
        prev: { href: `/api${path}?limit=2` },
        next: { href: `/api${path}?limit=2&start=4` },
        last: { href: `/api${path}?limit=2&start=4` },
      },
    });
    expect((await admin.get(`${path}?start=9`)).body).toMatchObject({ start: 9, count: 0, total: 5 });
  });

  test.for(['limit=0', 'limit=1001', 'start=-1'])('refuses %s', async (query) => {
    const name = query.split('=')[0]!;
    const message =
      name === 'limit' ? 'limit must be a whole number from 1 to 1000' : 'start must be a whole number from 0';
    const response = await admin.get(`/reports/${reportId}/tags?${query}`);
    await expectError(response, 400, message);
    expect(response.body.validation).toEqual([{ path: [name], message, code: 'invalid' }]);
  });

  test('in memory is a part as well, with the total of the whole', async () => {
    const { body } = await admin.get('/visual-components?limit=3&start=6');
    expect(body).toMatchObject({ start: 6, count: 2, total: 8 });
    expect(Object.keys(body._links)).toEqual(['self', 'first', 'prev', 'last', 'up', 'curies']);
  });

  test('without a limit has the last page of the default limit', async () => {
    for (let index = 0; index < 31; index += 1) await admin.creates('/folders', { name: `f${index}` });
    const { body } = await admin.get('/folders');
    expect(body).toMatchObject({ count: 30, total: 31, _links: { last: { href: '/api/folders?start=30' } } });
  });

  test('is a list with the same arguments in GraphQL', async () => {
    const document = `query ($id: ID!, $limit: Int, $start: Int) {
      report(id: $id) { tagAssignments(limit: $limit, start: $start) { tagId } references(limit: $limit) { total } }
    }`;
    const { report } = await admin.data(document, { id: reportId, limit: 2, start: 3 });
    expect(report).toEqual({ tagAssignments: tagIds.slice(3).map((tagId) => ({ tagId })), references: { total: 0 } });
    expect((await admin.data(document, { id: reportId })).report.tagAssignments).toHaveLength(5);
    await expectGraphqlError(
      admin.gql(document, { id: reportId, limit: 0 }),
      'BAD_USER_INPUT',
      'limit must be a whole number from 1 to 1000',
    );
  });
});

describe('rules of inputs', () => {
  const renameDocument = `mutation ($id: ID!, $name: String) {
    updateReport(id: $id, input: { name: $name }) { name }
  }`;

  test('hold in both APIs, and name the key as REST has it', async () => {
    const message = 'name must have at most 255 characters';
    const [name, tooLong] = ['x'.repeat(255), 'x'.repeat(256)];
    const refused = await admin.put(`/reports/${reportId}`, { name: tooLong });
    await expectError(refused, 400, message);
    expect(refused.body.validation).toEqual([{ path: ['name'], message, code: 'invalid' }]);
    await expectGraphqlError(admin.gql(renameDocument, { id: reportId, name: tooLong }), 'BAD_USER_INPUT', message);
    expect((await admin.data(renameDocument, { id: reportId, name })).updateReport).toEqual({ name });
  });

  test('name values inside of lists and objects', async () => {
    const response = await admin.post('/folders/_bulk-update', { add: [{ id: 'no-uuid', name: 'x'.repeat(256) }] });
    expect(response).toMatchObject({
      status: 400,
      body: {
        validation: [
          { path: ['add', 0, 'name'], message: 'add.0.name must have at most 255 characters' },
          { path: ['add', 0, 'id'], message: 'add.0.id must be a UUID' },
        ],
      },
    });
  });

  test('refuse null where nothing can be cleared, and let a blank text clear the rest', async () => {
    await expectError(admin.put(`/reports/${reportId}`, { name: null }), 400, 'name must not be null');
    await expectError(admin.put('/me', { settings: null }), 400, 'settings must not be null');
    const cleared = await admin.put('/me', { email: '  ', displayName: ' ' });
    expect(cleared).toMatchObject({ status: 200, body: { email: null, displayName: null } });
  });

  test('count characters, not UTF-16 units', async () => {
    expect((await admin.post('/folders', { name: '🚀'.repeat(255) })).status).toBe(201);
    await expectError(admin.post('/folders', { name: '🚀'.repeat(256) }), 400, 'name must have at most 255 characters');
  });
});

describe('a body', () => {
  test('is not coerced', async () => {
    await expectError(
      admin.post('/folders/_bulk-assign', { entities: [0], folderId: null }),
      400,
      '"entities.0" must be a text',
    );
    await expectError(
      admin.post('/folders/_bulk-assign', { entities: reportId, folderId: null }),
      400,
      '"entities" must be a list',
    );
    await expectError(admin.put(`/reports/${reportId}`, { tags: tagIds[0] }), 400, '"tags" must be a list');
    await expectError(admin.put(`/reports/${reportId}`, { ownerId: 7 }), 400, '"ownerId" must be a text');
    expect((await admin.get(`/reports/${reportId}/tags`)).body.total).toBe(5);
  });

  test('cannot be left out where it is required', async () => {
    await expectError(admin.put(`/reports/${reportId}`), 400, '"body" is required');
    await expectError(admin.post('/folders/_bulk-update'), 400, '"body" is required');
    await expectError(admin.post('/folders/_bulk-assign', { entities: [] }), 400, 'folderId is required');
  });
});

describe('arguments are checked whatever is selected', () => {
  const PAGES = Object.values(schema.getQueryType()!.getFields()).filter(({ args, type }) => {
    const page = getNamedType(type);
    return args.some(({ name }) => name === 'sort') && isObjectType(page) && 'total' in page.getFields();
  });

  test('of pages: the field to sort by', async () => {
    expect(PAGES.length).toBeGreaterThan(20);
    const session = await service.login('admin');
    for (const { name } of PAGES)
      for (const selected of ['total', 'count', 'total hasNextPage', 'items { id }', '__typename'])
        await expectGraphqlError(
          session.gql(`{ ${name}(sort: "nope") { ${selected} } }`),
          'BAD_USER_INPUT',
          /^Cannot sort by "nope"/,
        );
  });

  test.for([
    ['data(sort: "nope")', 'total'],
    ['data(filter: {nope: 1})', '__typename'],
    ['data(fields: ["nope"])', 'total'],
    ['data(limit: 0)', '__typename'],
    ['aggregate(measures: [{fn: COUNT, as: "n"}], groupBy: [{field: "nope"}])', 'total'],
    ['aggregate(measures: [{fn: COUNT, as: "n"}], sort: "nope")', 'total'],
    ['aggregate(measures: [{fn: SUM, as: "n", field: "nope"}])', '__typename'],
  ])('of rows: %s { %s }', async ([field, selected]) => {
    const query = `{ dataset(id: "${datasetId}") { ${field} { ${selected} } } }`;
    await expectGraphqlError(admin.gql(query), 'BAD_USER_INPUT', /nope|limit/);
  });
});
