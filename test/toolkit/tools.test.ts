import { describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectInvalid, expectStatus } from '../support/expect.ts';
import { createSource, test as shopTest } from '../support/shop-fixture.ts';
import { createToolkit, test, type TestToolkit } from './toolkit-fixture.ts';

const ADD = {
  name: 'add',
  description: 'Adds',
  inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
};
const ECHO = { name: 'echo', description: null, inputSchema: { type: 'object' } };
const SERVER = { name: 'reference', version: '1.2.3' };

const toolsOf = async (client: Client, { path }: TestToolkit) =>
  (await client.get(`${path}/tools`)).body._embedded['svc:toolkit-tool'].map(
    ({ name, approved }: { name: string; approved: boolean }) => [name, approved],
  );

describe('tools that a client reports', () => {
  test('are approved at first, in order, and in both APIs', async ({ eve }) => {
    const toolkit = await createToolkit(eve);
    const put = await expectBody(eve.put(toolkit.path, { tools: [ECHO, ADD], serverInfo: SERVER }), 200, {
      serverInfo: SERVER,
      tools: [
        { ...ECHO, approved: true },
        { ...ADD, approved: true },
      ],
    });
    expect(Date.parse(put.discoveredAt)).toBeLessThanOrEqual(Date.now());
    const { body } = await eve.get(`${toolkit.path}/tools?limit=1&start=1`);
    expect(body).toMatchObject({ start: 1, count: 1, total: 2, _embedded: { 'svc:toolkit-tool': [ADD] } });
    const query = `{ toolkit(id: "${toolkit.id}") { serverInfo { name version }
      tools { id position name description inputSchema approved toolkit { id } } } }`;
    const { toolkit: read } = await eve.data(query);
    expect(read.serverInfo).toEqual(SERVER);
    expect(read.tools.map(({ id: _, ...tool }: { id: string }) => tool)).toEqual([
      { ...ECHO, position: 0, approved: true, toolkit: { id: toolkit.id } },
      { ...ADD, position: 1, approved: true, toolkit: { id: toolkit.id } },
    ]);
    const { node } = await eve.data(`{ node(id: "${read.tools[0].id}") { id ... on ToolkitTool { name } } }`);
    expect(node).toEqual({ id: read.tools[0].id, name: 'echo' });
  });

  test('that are added or changed wait, and are approved by name or together', async ({ eve }) => {
    const toolkit = await createToolkit(eve, { tools: [ADD, ECHO], serverInfo: SERVER });
    const changed = { ...ADD, description: 'Subtracts' };
    await expectStatus(eve.put(toolkit.path, { tools: [changed, ECHO, { name: 'new' }] }), 200);
    expect(await toolsOf(eve, toolkit)).toEqual([
      ['add', false],
      ['echo', true],
      ['new', false],
    ]);
    const approve = `${toolkit.path}/tools/_approve`;
    await expectInvalid(
      eve.post(approve, { names: ['new', 'old'] }),
      'names.1',
      'names.1 is not the name of a tool: "old"',
    );
    expect((await toolsOf(eve, toolkit))[2]).toEqual(['new', false]);
    const { body } = await eve.post(approve, { names: ['new'] });
    expect(body).toMatchObject({
      total: 3,
      _embedded: { 'svc:toolkit-tool': [{ approved: false }, {}, { approved: true }] },
    });
    const mutation = `mutation { approveToolkitTools(toolkitId: "${toolkit.id}") { name approved } }`;
    expect((await eve.data(mutation)).approveToolkitTools).toEqual([
      { name: 'add', approved: true },
      { name: 'echo', approved: true },
      { name: 'new', approved: true },
    ]);
    await expectStatus(eve.put(toolkit.path, { tools: [ECHO] }), 200);
    expect(await toolsOf(eve, toolkit)).toEqual([['echo', true]]);
  });

  test('are not approved by sending them with approved', async ({ eve }) => {
    const toolkit = await createToolkit(eve, { tools: [ADD], serverInfo: SERVER });
    await expectStatus(eve.put(toolkit.path, { tools: [ADD, { ...ECHO, approved: true }] }), 200);
    expect(await toolsOf(eve, toolkit)).toEqual([
      ['add', true],
      ['echo', false],
    ]);
  });

  test('as an empty list, sent back with a new toolkit, are not a discovery', async ({ eve }) => {
    const toolkit = await createToolkit(eve);
    const { body } = await eve.get(toolkit.path);
    await expectBody(eve.put(toolkit.path, body), 200, { discoveredAt: null });
    await expectBody(eve.put(toolkit.path, { tools: [ADD] }), 200, { tools: [{ approved: true }] });
  });

  test('are ignored for a remote server', async ({ eve }) => {
    const config = { url: 'https://mcp.example.com/mcp' };
    const { path } = await createToolkit(eve, { type: 'mcp-remote', config, tools: [ADD], serverInfo: SERVER });
    await expectBody(eve.get(path), 200, { tools: [], serverInfo: null });
    await expectBody(eve.put(path, { tools: [ADD], serverInfo: SERVER }), 200, { tools: [], serverInfo: null });
  });

  test.for<[string, object[], string, RegExp]>([
    ['two of one name', [ECHO, ECHO], 'tools.1.name', /must be unique/],
    ['a name with controls', [{ name: 'a\u001b[0m' }], 'tools.0.name', /must not contain control characters/],
    ['a name of 129 characters', [{ name: 'x'.repeat(129) }], 'tools.0.name', /at most 128 characters/],
    ['a schema past 64 KiB', [{ name: 'a', inputSchema: { x: 'x'.repeat(65_536) } }], 'tools.0.inputSchema', /64 KiB/],
    ['more than 500', Array.from({ length: 501 }, (_, i) => ({ name: `t${i}` })), 'tools', /at most 500 items/],
  ])('are refused with %s', async ([, tools, path, message], { eve }) => {
    const toolkit = await createToolkit(eve);
    await expectInvalid(eve.put(toolkit.path, { tools }), path, message);
  });
});

describe('custom tools', () => {
  const SCHEMA = { type: 'object', properties: { id: { type: 'string' } } };
  const request = (more: object = {}) => ({ url: 'https://api.example.com/items/{{id}}', ...more });
  const custom = (...tools: object[]) => ({ type: 'custom', config: { tools } });
  const tool = (more: object = {}) => ({ name: 'get_item', inputSchema: SCHEMA, request: request(), ...more });

  test('are listed, approved at first, and wait when they change', async ({ eve }) => {
    const toolkit = await createToolkit(eve, custom(tool()));
    await expectBody(eve.get(toolkit.path), 200, {
      config: { tools: [{ name: 'get_item', request: { ...request(), method: 'GET', headers: {} } }] },
      tools: [{ name: 'get_item', description: null, inputSchema: SCHEMA, approved: true }],
      discoveredAt: null,
    });
    const { config } = custom(tool({ name: 'other' }), tool());
    await expectStatus(eve.put(toolkit.path, { config }), 200);
    expect(await toolsOf(eve, toolkit)).toEqual([
      ['other', false],
      ['get_item', true],
    ]);
  });

  test('wait when their request changes, and not when it is sent back', async ({ eve }) => {
    const headers = { Authorization: 'Bearer abc' };
    const body = { text: ['{{id}}'] };
    const sent = request({ method: 'POST', headers, body });
    const toolkit = await createToolkit(eve, custom(tool({ request: sent })));
    const isApprovedAfter = async (changed: object) => {
      await expectStatus(eve.post(`${toolkit.path}/tools/_approve`), 200);
      await expectStatus(eve.put(toolkit.path, custom(tool({ request: changed }))), 200);
      return (await toolsOf(eve, toolkit))[0]![1];
    };
    const masked = { ...sent, headers: { Authorization: '••••' } };
    expect(await isApprovedAfter(masked)).toBe(true);
    expect(await isApprovedAfter(sent)).toBe(true);
    for (const change of [
      { url: 'https://api.example.com/other/{{id}}' },
      { method: 'DELETE' },
      { body: { text: ['{{id}}', 'more'] } },
      { headers: { Authorization: 'Bearer of another' } },
    ]) {
      expect(await isApprovedAfter({ ...masked, ...change }), JSON.stringify(change)).toBe(false);
      await expectStatus(eve.put(toolkit.path, custom(tool({ request: sent }))), 200);
    }
  });

  test('show no text of a body without the permission to change them', async ({ eve, ann }) => {
    const body = { key: 'literal secret', list: ['{{id}}', 1, null, { deep: 'another secret' }] };
    const { path } = await createToolkit(eve, custom(tool({ request: request({ method: 'POST', body }) })));
    await expectStatus(eve.put(`${path}/shares/${ann.id}`, { accessLevel: 1 }), 200);
    const shown = async (client: Client) => (await client.get(path)).body.config.tools[0].request.body;
    expect(await shown(eve)).toEqual(body);
    expect(await shown(ann)).toEqual({ key: '••••', list: ['••••', 1, null, { deep: '••••' }] });
  });

  test('keep the secrets of their headers by their names', async ({ eve }) => {
    const headers = { Authorization: 'Bearer {{id}} abc' };
    const one = tool({ request: request({ headers }) });
    const { path } = await createToolkit(eve, custom(one));
    const masked = { ...one, request: { ...one.request, headers: { Authorization: '••••' } } };
    const moved = custom(tool({ name: 'first' }), masked).config;
    await expectBody(eve.put(path, { config: moved }), 200, { config: moved });
    const renamed = custom({ ...masked, name: 'new' }).config;
    await expectInvalid(
      eve.put(path, { config: renamed }),
      'config.tools.0.request.headers.Authorization',
      /has no stored value/,
    );
    const elsewhere = custom(tool({ request: { ...masked.request, url: 'https://evil.example/{{id}}' } })).config;
    await expectInvalid(
      eve.put(path, { config: elsewhere }),
      'config.tools.0.request.headers.Authorization',
      /is required when config.tools.0.request.url changes/,
    );
    const undeclared = custom({
      ...masked,
      inputSchema: {},
      request: { ...masked.request, url: 'https://api.example.com' },
    });
    await expectInvalid(
      eve.put(path, { config: undeclared.config }),
      'config.tools.0.request.headers.Authorization',
      /contains the argument "id", which inputSchema.properties does not declare/,
    );
  });

  test.for<[string, object, string, RegExp]>([
    ['neither query nor request', { request: undefined }, 'config.tools.0', /either queryId or request/],
    ['query and request', { queryId: 'x' }, 'config.tools.0', /either queryId or request/],
    ['an unknown key', { foo: 1 }, 'config.tools.0.foo', /is unknown/],
    ['an undeclared argument in the URL', { inputSchema: {} }, 'config.tools.0.request.url', /"id"/],
    [
      'one in the body',
      { request: request({ method: 'POST', body: { a: ['{{ b }}'] } }) },
      'config.tools.0.request.body',
      /"b"/,
    ],
    [
      'a body with GET',
      { request: request({ body: 'x' }) },
      'config.tools.0.request.body',
      /absent with the method GET/,
    ],
    [
      'an argument in the host',
      { request: { url: 'https://{{id}}.example.com/' } },
      'config.tools.0.request.url',
      /host/,
    ],
    [
      'an argument after the host',
      { request: { url: 'https://example.com{{id}}/' } },
      'config.tools.0.request.url',
      /host/,
    ],
    ['an argument as URL', { request: { url: '{{id}}' } }, 'config.tools.0.request.url', /host/],
    ['a private address', { request: { url: 'https://10.0.0.1/{{id}}' } }, 'config.tools.0.request.url', /not public/],
    ['an invalid schema', { inputSchema: { type: 'objekt' } }, 'config.tools.0.inputSchema.type', /./],
    ['a schema of a text', { inputSchema: { type: 'string' } }, 'config.tools.0.inputSchema.type', /must be object/],
    ['an invalid name', { name: '' }, 'config.tools.0.name', /must not be empty/],
  ])('are refused with %s', async ([, more, path, message], { eve }) => {
    await expectInvalid(eve.post('/toolkits', { name: 'T', ...custom(tool(more)) }), path, message);
  });

  test('are refused with a name that is used twice', async ({ eve }) => {
    await expectInvalid(
      eve.post('/toolkits', { name: 'T', ...custom(tool(), tool()) }),
      'config.tools.1.name',
      /unique/,
    );
  });
});

shopTest(
  'a custom tool runs a query that its author can read, and is among its references',
  async ({ admin, ann, shop }) => {
    const source = await createSource(admin, shop);
    const query = await admin.creates('/queries', { name: 'All', datasourceId: source.id, query: 'select 1 as one' });
    const body = { name: 'Queries', type: 'custom', config: { tools: [{ name: 'all', queryId: query.slug }] } };
    const { id, config } = await admin.creates('/toolkits', body);
    expect(config.tools[0].queryId).toBe(query.id);
    await expectBody(admin.get(`/queries/${query.id}/references`), 200, {
      total: 1,
      _embedded: { 'svc:reference': [{ kind: 'toolkit', id }] },
    });
    const another = await admin.creates('/queries', { name: 'Two', datasourceId: source.id, query: 'select 2 as one' });
    const replaced = { tools: [{ ...config.tools[0], queryId: another.id }] };
    await expectBody(admin.put(`/toolkits/${id}`, { config: replaced }), 200, { tools: [{ approved: false }] });
    await expectStatus(admin.post(`/toolkits/${id}/tools/_approve`), 200);
    await expectBody(admin.put(`/toolkits/${id}`, { config }), 200, { tools: [{ approved: false }] });
    await expectStatus(admin.post(`/toolkits/${id}/tools/_approve`), 200);
    await expectBody(admin.put(`/toolkits/${id}`, { config }), 200, { tools: [{ approved: true }] });
    await expectStatus(admin.put(`/toolkits/${id}/shares/${ann.id}`, { accessLevel: 2 }), 200);
    await expectBody(ann.put(`/toolkits/${id}`, { config }), 200, { config });
    const other = await admin.creates('/queries', { name: 'Other', datasourceId: source.id, query: 'select 2 as two' });
    const hidden = { tools: [...config.tools, { name: 'other', queryId: other.id }] };
    await expectError(ann.put(`/toolkits/${id}`, { config: hidden }), 404, `There is no query ${other.id}`);
    await expectBody(ann.get(`/toolkits/${id}/tools`), 200, {
      _embedded: {
        'svc:toolkit-tool': [{ queryId: query.id, _links: { 'svc:query': { href: `/api/queries/${query.id}` } } }],
      },
    });
    const edge = `{ toolkit(id: "${id}") { tools { queryId savedQuery { name } } } }`;
    const readAs = async (client: Client) => (await client.data(edge)).toolkit.tools;
    expect(await readAs(admin)).toEqual([{ queryId: query.id, savedQuery: { name: 'All' } }]);
    expect(await readAs(ann), 'without access to the query').toEqual([{ queryId: query.id, savedQuery: null }]);
    await expectStatus(admin.delete(`/queries/${query.id}`), 204);
    expect(await readAs(admin), 'after the query').toEqual([{ queryId: query.id, savedQuery: null }]);
  },
);
