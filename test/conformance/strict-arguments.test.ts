import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectError, expectInvalid } from '../support/expect.ts';
import { startService, type Service } from '../support/service.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createResources, type Resources } from './openapi-resources.ts';

/* Arguments that are refused, or mean the same in both APIs (docs/contract/apis.md#lists, #errors). */

let service: Service;
let admin: Client;
let resources: Resources;

beforeAll(async () => {
  service = await startService();
  await service.user('admin', { superuser: true });
  admin = await service.login('admin');
  resources = await createResources(admin, 'strict');
});
afterAll(() => service.close());

describe('ids in the filters of lists', () => {
  const FILTERS = [
    ['dataset-filters', 'datasets', '/datasets/', 'savedFilters(datasets: ["KEY"])'],
    ['images', 'assistantId', '/assistants/', 'images(assistantId: "KEY")'],
    ['agents', 'assistantId', '/assistants/', 'agents(assistantId: "KEY")'],
  ] as const;

  test.for(FILTERS)('%s?%s=', async ([list, parameter, kind, field]) => {
    const { id, slug, naturalId } = (await admin.get(kind + resources[kind])).body;
    const totals = async (key: string) => [
      (await admin.get(`/${list}?${parameter}=${key}`)).body.total,
      Object.values<{ total: number }>(await admin.data(`{ ${field.replace('KEY', key)} { total } }`))[0]!.total,
    ];
    const expected = await totals(id);
    expect(expected[0]).toBeTypeOf('number');
    for (const key of [slug, naturalId, id.toUpperCase()]) expect([key, await totals(key)]).toEqual([key, expected]);
    const stranger = await service.user(`stranger-${list}`);
    for (const [client, key] of [
      [admin, 'nope'],
      [admin, UNKNOWN_ID],
      [admin, 'other:nope'],
      [stranger, slug],
      [stranger, id],
    ] as const) {
      await expectError(client.get(`/${list}?${parameter}=${key}`), 404, new RegExp(`"?${key}"?`));
      const { body } = await client.request('POST', '/graphql', {
        query: `{ ${field.replace('KEY', key)} { total } }`,
      });
      expect([key, body.errors?.[0].extensions.status]).toEqual([key, 404]);
    }
  });

  test('agents?ownerId= takes what identifies a user', async () => {
    const me = (await admin.get('/me')).body;
    const { total } = (await admin.get(`/agents?ownerId=${me.id}`)).body;
    expect(total).toBeGreaterThan(0);
    for (const key of ['admin', `user:${me.id}`])
      expect([key, (await admin.get(`/agents?ownerId=${key}`)).body.total]).toEqual([key, total]);
    for (const key of ['nope', UNKNOWN_ID]) await expectError(admin.get(`/agents?ownerId=${key}`), 404, /user/);
  });
});

test('an empty JSON array of fields means all fields', async () => {
  const path = `/datasets/${resources['/datasets/']}/data`;
  const all = (await admin.get(path)).body._embedded;
  expect(all['svc:record'].length).toBeGreaterThan(0);
  for (const text of ['[]', '', '%5B%20%5D'])
    expect((await admin.get(`${path}?fields=${text}`)).body._embedded).toEqual(all);
  await expectError(admin.get(`${path}?fields=[x]`), 400, /\[x\]/);
});

describe('null for an argument with a default', () => {
  test.for([
    ['_refresh', 'syncFields', 'refreshDataset'],
    ['_refresh', 'updateTypeMapping', 'refreshDataset'],
    ['_refresh-internal', 'disableRefreshInterval', 'refreshDatasetInternal'],
    ['draft/_commit', 'clearAllUserSettings', 'commitDatasetDraft'],
  ] as const)('of %s: %s', async ([action, name, field]) => {
    const id = resources['/datasets/'];
    await expectInvalid(admin.post(`/datasets/${id}/${action}`, { [name]: null }), name, `${name} must not be null`);
    const leaf = field === 'commitDatasetDraft' ? 'id' : 'operation { id }';
    for (const query of [
      `mutation { ${field}(id: "${id}", ${name}: null) { ${leaf} } }`,
      `mutation ($x: Boolean) { ${field}(id: "${id}", ${name}: $x) { ${leaf} } }`,
    ]) {
      const { body } = await admin.request('POST', '/graphql', { query, variables: { x: null } });
      expect(body.errors).toMatchObject([
        {
          message: `${name} must not be null`,
          extensions: { code: 'BAD_USER_INPUT', status: 400, validation: [{ path: [name], code: 'invalid' }] },
        },
      ]);
    }
  });
});

test.for([[[]], [['a']], [5], ['text']])('%j where an object is declared', async ([value]) => {
  const id = resources['/datasets/'];
  for (const [name, response] of [
    ['criteria', admin.post(`/datasets/${id}/filters`, { name: 'Any', criteria: value })],
    ['params', admin.post(`/datasets/${id}/_refresh`, { params: value })],
    ['settings', admin.put('/me', { settings: value })],
    ['config', admin.post('/toolkits', { name: 'Any', type: 'mcp', config: value })],
    ['config', admin.post('/datasources', { name: 'Any', type: 'sqlite', config: value })],
    ['data', admin.post(`/jobs/${resources['/jobs/']}/actions`, { name: 'Any', type: 'email', data: value })],
  ] as const)
    await expectInvalid(response, name, `"${name}" must be an object`);
});

test('the response to a search by POST links no pages', async () => {
  const path = `/datasets/${resources['/datasets/']}`;
  const { body } = await admin.post(`${path}/_search`, { limit: 1 });
  const read = (await admin.get(`${path}/data?limit=1`)).body;
  expect(body._links).toEqual({ up: { href: `/api${path}` }, curies: read._links.curies });
  expect(read._links).toMatchObject({ next: { href: expect.stringContaining('/data?limit=1&after=') } });
  const next = (await admin.post(`${path}/_search`, { limit: 1, after: body.next })).body;
  expect(next._embedded).toEqual((await admin.request('GET', read._links.next.href)).body._embedded);
});
