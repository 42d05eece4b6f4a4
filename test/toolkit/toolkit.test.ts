import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { loadToolkitSecrets } from '../../src/services/toolkit/toolkit-config.ts';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { systemQuery } from '../support/system-query.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createToolkit, REMOTE, STDIO, test } from './toolkit-fixture.ts';

test('new users cannot create toolkits', async ({ ann, anonymous }) => {
  const body = { name: 'Mine', type: 'mcp-stdio', config: STDIO };
  await expectError(ann.post('/toolkits', body), 403, 'You lack the permission toolkits:create');
  await expectStatus(anonymous.post('/toolkits', body), 401);
});

test('a new toolkit has its settings and no tools, in both APIs', async ({ eve }) => {
  const created = await eve.post('/toolkits', { name: 'Files of ours', type: 'mcp-stdio', config: STDIO });
  expect(created).toMatchObject({
    status: 201,
    body: {
      tenant: 'default',
      slug: 'files-of-ours',
      naturalId: 'default:files-of-ours',
      type: 'mcp-stdio',
      config: STDIO,
      tools: [],
      serverInfo: null,
      discoveredAt: null,
      enabled: true,
      ownerId: eve.id,
      permissions: { read: true, write: true, delete: true },
    },
  });
  expect(created.headers.get('location')).toBe(`/api/toolkits/${created.body.id}`);
  await expectBody(eve.get('/toolkits/default:files-of-ours'), 200, { id: created.body.id });
  const { toolkit } = await eve.data(`{ toolkit(id: "files-of-ours") { id type config enabled tools { name } } }`);
  expect(toolkit).toEqual({ id: created.body.id, type: 'mcp-stdio', config: STDIO, enabled: true, tools: [] });
});

test('a toolkit is created, updated and deleted by GraphQL', async ({ eve }) => {
  const create = `mutation ($input: CreateToolkitInput!) { createToolkit(input: $input) { id type config } }`;
  const input = {
    name: 'Remote',
    type: 'mcp-remote',
    config: { url: 'https://mcp.example.com/sse', transport: 'sse' },
  };
  const { createToolkit: created } = await eve.data(create, { input });
  expect(created.config).toEqual({ url: 'https://mcp.example.com/sse', transport: 'sse', headers: {} });
  const update = `mutation ($id: ID!, $input: UpdateToolkitInput!) { updateToolkit(id: $id, input: $input) { enabled } }`;
  const { updateToolkit } = await eve.data(update, { id: created.id, input: { enabled: false } });
  expect(updateToolkit).toEqual({ enabled: false });
  const { deleteToolkit } = await eve.data(`mutation ($id: ID!) { deleteToolkit(id: $id) }`, { id: created.id });
  expect(deleteToolkit).toBe(created.id);
  await expectStatus(eve.get(`/toolkits/${created.id}`), 404);
});

test('lists leave out config and tools, and filter', async ({ eve }) => {
  const { id } = await createToolkit(eve, { name: 'Listed for once' });
  const { body } = await eve.get('/toolkits?q=listed for once');
  expect(body.total).toBe(1);
  const [item] = body._embedded['svc:toolkit'];
  expect(item).toMatchObject({ id, type: 'mcp-stdio', enabled: true });
  expect(Object.keys(item)).not.toContain('config');
  expect(Object.keys(item)).not.toContain('tools');
});

test('a toolkit of another user is unknown without a share, and unchanged with View', async ({
  eve,
  ann,
  bob,
  anonymous,
  stranger,
}) => {
  const { id, path } = await createToolkit(eve);
  await expectStatus(anonymous.get(path), 401);
  for (const client of [ann, stranger]) await expectError(client.get(path), 404, `There is no toolkit ${id}`);
  await expectStatus(eve.put(`${path}/shares/${bob.id}`, { accessLevel: 1 }), 200);
  await expectBody(bob.get(path), 200, { permissions: { read: true, write: false } });
  await expectError(bob.put(path, { name: 'Mine' }), 403, 'You lack the permission toolkit:write');
  await expectError(bob.delete(path), 403, 'You lack the permission toolkit:delete');
  await expectError(bob.post(`${path}/tools/_approve`), 403, 'You lack the permission toolkit:write');
  await expectStatus(eve.put(`${path}/shares/${bob.id}`, { accessLevel: 2 }), 200);
  await expectBody(bob.put(path, { enabled: false }), 200, { enabled: false });
  await expectError(eve.get(`/toolkits/${UNKNOWN_ID}`), 404, `There is no toolkit ${UNKNOWN_ID}`);
});

test('a record can be sent back, its type cannot change', async ({ eve }) => {
  const tools = [{ name: 'add', description: 'Adds', inputSchema: { type: 'object' } }];
  const { path } = await createToolkit(eve, { tools, serverInfo: { name: 's', version: '1' } });
  const { body: record } = await eve.get(path);
  const { body: same } = await eve.put(path, record);
  expect({ ...same, updatedAt: null }).toEqual({ ...record, updatedAt: null });
  await expectStatus(eve.put(path, { type: 'custom' }), 400);
});

describe('secrets', () => {
  const secretsOf = async (service: { platform: Parameters<typeof loadToolkitSecrets>[0] }, id: string) => {
    const [row] = await systemQuery<{ tenantId: string }>(
      service as never,
      `select tenant_id as "tenantId" from dws.toolkit where id = '${id}'`,
    );
    return loadToolkitSecrets(service.platform, { id, name: 'Tools', tenantId: row!.tenantId });
  };

  test('are shown as dots, kept when the dots are sent, and stored encrypted', async ({ eve, service }) => {
    const oauth = { clientId: 'client', clientSecret: 'oauth-secret', scope: 'read' };
    const { id, path } = await createToolkit(eve, { type: 'mcp-remote', config: { ...REMOTE, oauth } });
    const masked = {
      ...REMOTE,
      headers: { Authorization: '••••' },
      oauth: { ...oauth, clientSecret: '••••' },
    };
    const { body } = await eve.get(path);
    expect(body.config).toEqual(masked);
    expect(await secretsOf(service, id)).toEqual({ ...REMOTE, oauth });

    const headers = { authorization: '••••', 'X-New': 'new-secret' };
    await expectBody(eve.put(path, { config: { ...masked, headers } }), 200, {
      config: { headers: { authorization: '••••', 'X-New': '••••' } },
    });
    expect(await secretsOf(service, id)).toEqual({
      ...REMOTE,
      headers: { authorization: 'Bearer header-secret', 'X-New': 'new-secret' },
      oauth,
    });
    const [row] = await systemQuery<{ text: string }>(
      service,
      `select t::text || (select coalesce(string_agg(a::text, ''), '') from dws.activity a) ||
        (select coalesce(string_agg(a::text, ''), '') from dws.audit_event a) as text
      from dws.toolkit t where id = '${id}'`,
    );
    expect(row!.text).not.toMatch(/header-secret|oauth-secret|new-secret/);
  });

  test('that change are an activity without values', async ({ eve }) => {
    const config = { ...STDIO, env: { TOKEN: 'secret-one' } };
    const { path } = await createToolkit(eve, { name: 'Rotated', config });
    await expectStatus(eve.put(path, { config: { ...STDIO, env: { TOKEN: '••••' } } }), 200);
    await expectStatus(eve.put(path, { config: { ...STDIO, env: { TOKEN: 'secret-two' } } }), 200);
    const { body } = await eve.get(`${path}/activity`);
    expect(body._embedded['svc:activity'].map(({ type }: { type: string }) => type)).toEqual([
      'toolkit.config.changed',
      'toolkit.created',
    ]);
    expect(JSON.stringify(body)).not.toContain('secret-');
  });

  test('that are not stored cannot be kept', async ({ eve }) => {
    const config = { ...STDIO, env: { TOKEN: '••••' } };
    const message = 'config.env.TOKEN has no stored value';
    await expectInvalid(eve.post('/toolkits', { name: 'T', type: 'mcp-stdio', config }), 'config.env.TOKEN', message);
    const { path } = await createToolkit(eve, { config: { ...STDIO, env: { OTHER: 'x' } } });
    await expectInvalid(eve.put(path, { config }), 'config.env.TOKEN', message);
  });

  test('are required again, each by name, when they would go to another origin or path', async ({ eve, service }) => {
    const config = { ...REMOTE, headers: { A: 'secret-a', B: 'secret-b' } };
    const { id, path } = await createToolkit(eve, { type: 'mcp-remote', config });
    const masked = { ...config, headers: { A: '••••', B: '••••' } };
    for (const url of ['https://evil.example/mcp', 'http://mcp.example.com/mcp', 'https://mcp.example.com/v2']) {
      const { status, body } = await eve.put(path, { config: { ...masked, url } });
      expect(status, url).toBe(400);
      expect(body.validation.map(({ message }: { message: string }) => message)).toEqual([
        'config.headers.A is required when config.url changes',
        'config.headers.B is required when config.url changes',
      ]);
    }
    await expectStatus(eve.put(path, { config: { ...masked, url: 'https://mcp.example.com/mcp?other' } }), 200);
    const moved = { ...masked, url: 'https://new.example/mcp', headers: { A: 'new-a' } };
    await expectStatus(eve.put(path, { config: moved }), 200);
    expect(await secretsOf(service, id)).toMatchObject({ url: moved.url, headers: { A: 'new-a' } });
  });

  test('of a command are required again when it or its arguments change', async ({ eve }) => {
    const { path } = await createToolkit(eve, { config: { ...STDIO, env: { TOKEN: 'secret' } } });
    const env = { TOKEN: '••••' };
    for (const change of [{ command: 'sh' }, { args: ['other'] }, { args: STDIO.args.toReversed() }])
      await expectInvalid(
        eve.put(path, { config: { ...STDIO, ...change, env } }),
        'config.env.TOKEN',
        'config.env.TOKEN is required when config.command or config.args changes',
      );
    await expectBody(eve.put(path, { config: { ...STDIO, env } }), 200, { config: { env } });
  });

  test('in the query of a URL are shown only to those who may write', async ({ eve, bob }) => {
    const { path } = await createToolkit(eve, { type: 'mcp-remote', config: REMOTE });
    const request = { url: 'https://api.example.com/items?key=query-secret', headers: {} };
    const custom = await createToolkit(eve, { type: 'custom', config: { tools: [{ name: 'a', request }] } });
    for (const { id } of [{ id: path }, { id: custom.path }])
      await expectStatus(eve.put(`${id}/shares/${bob.id}`, { accessLevel: 1 }), 200);
    expect((await eve.get(path)).body.config.url).toBe(REMOTE.url);
    expect((await bob.get(path)).body.config.url).toBe('https://mcp.example.com/mcp');
    expect((await bob.get(custom.path)).body.config.tools[0].request.url).toBe('https://api.example.com/items');
    expect(JSON.stringify((await bob.get(`${path}/activity`)).body)).not.toContain('query-secret');
  });

  test('in the arguments of a command are shown only to those who may write, in both APIs', async ({ eve, bob }) => {
    const config = { command: 'npx', args: ['-y', 'server', '--api-key=argument-secret'] };
    const { id, path } = await createToolkit(eve, { config });
    await expectStatus(eve.put(`${path}/shares/${bob.id}`, { accessLevel: 1 }), 200);
    const query = `query ($id: ID!) { toolkit(id: $id) { config } }`;
    const shown = { command: 'npx', args: ['••••', '••••', '••••'] };
    expect((await bob.get(path)).body.config).toEqual(shown);
    expect(await bob.data(query, { id })).toEqual({ toolkit: { config: shown } });
    expect((await eve.get(path)).body.config).toEqual(config);
    await expectStatus(eve.put(`${path}/shares/${bob.id}`, { accessLevel: 2 }), 200);
    expect((await bob.get(path)).body.config).toEqual(config);
    expect(await bob.data(query, { id })).toEqual({ toolkit: { config } });
  });

  test('a connection ends when the server changes', async ({ eve, service }) => {
    const { id, path } = await createToolkit(eve, { type: 'mcp-remote', config: { url: 'https://a.example/mcp' } });
    const connect = () =>
      systemQuery(
        service,
        `insert into dws.connection (id, tenant_id, toolkit_id, owner_id, status, sealed_tokens, last_authorized_at)
          select '${newId()}', tenant_id, id, '${eve.id}', 'connected', 'x', now() from dws.toolkit where id = '${id}'`,
      );
    const count = async () =>
      (await systemQuery(service, `select 1 from dws.connection where toolkit_id = '${id}'`)).length;
    await connect();
    await expectStatus(eve.put(path, { config: { url: 'https://a.example/mcp?v=2' }, name: 'Renamed' }), 200);
    expect(await count()).toBe(1);
    await expectStatus(eve.put(path, { config: { url: 'https://b.example/mcp' } }), 200);
    expect(await count()).toBe(0);
  });
});

describe('a config is refused', () => {
  const remote = (more: object) => ({ type: 'mcp-remote', config: { url: 'https://mcp.example.com', ...more } });
  test.for<[string, object, string, string | RegExp]>([
    ['without a command', { config: {} }, 'config.command', 'config.command is required'],
    ['with an unknown key', { config: { ...STDIO, cwd: '/' } }, 'config.cwd', 'config.cwd is unknown'],
    ['of an unknown driver', { type: 'mcp' }, 'type', 'type must be one of mcp-stdio, mcp-remote, custom'],
    ['with an unknown transport', remote({ transport: 'ws' }), 'config.transport', /must be one of http, sse/],
    [
      'with credentials in the URL',
      remote({ url: 'https://a:b@mcp.example.com' }),
      'config.url',
      /username or password/,
    ],
    ['with a URL of another scheme', remote({ url: 'file:///etc/passwd' }), 'config.url', /is not allowed/],
    ['with no URL', remote({ url: 'mcp.example.com' }), 'config.url', /is not allowed/],
    ['with a loopback address', remote({ url: 'https://127.0.0.1/mcp' }), 'config.url', /address is not public/],
    ['with a private address in hex', remote({ url: 'https://0x0a000001/' }), 'config.url', /"10.0.0.1"/],
    ['with a mapped address', remote({ url: 'https://[::ffff:169.254.169.254]/' }), 'config.url', /not public/],
    ['with a header twice', remote({ headers: { A: '1', a: '2' } }), 'config.headers.a', /is given twice/],
    ['with a header of the client', remote({ headers: { Host: 'x' } }), 'config.headers.Host', /sets itself/],
    ['with a line break in a header', remote({ headers: { A: '1\r\nB: 2' } }), 'config.headers.A', /pattern/],
  ])('%s', async ([, body, path, message], { eve }) => {
    await expectInvalid(eve.post('/toolkits', { name: 'T', type: 'mcp-stdio', config: STDIO, ...body }), path, message);
  });

  test('if it is null or absent', async ({ eve }) => {
    await expectStatus(eve.post('/toolkits', { name: 'T', type: 'mcp-stdio' }), 400);
    const { path } = await createToolkit(eve);
    await expectInvalid(eve.put(path, { config: null }), 'config', 'config must not be null');
  });
});

test('the drivers are listed with schemas of their settings', async ({ ann, anonymous }) => {
  await expectStatus(anonymous.get('/toolkit-drivers'), 401);
  const { body } = await ann.get('/toolkit-drivers');
  expect(body).toMatchObject({ start: 0, count: 3, total: 3 });
  const drivers = body._embedded['svc:toolkit-driver'];
  expect(drivers.map(({ id }: { id: string }) => id)).toEqual(['mcp-stdio', 'mcp-remote', 'custom']);
  expect(drivers[1]).toMatchObject({
    name: 'Remote MCP server',
    configSchema: { required: ['url'], properties: { transport: { enum: ['http', 'sse'] } } },
  });
  const { toolkitDrivers } = await ann.data(`{ toolkitDrivers { id name description configSchema } }`);
  expect(toolkitDrivers).toEqual(drivers);
  await expectGraphqlError(anonymous.gql(`{ toolkitDrivers { id } }`), 'UNAUTHENTICATED');
});
