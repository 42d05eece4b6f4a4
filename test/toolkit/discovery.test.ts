import { describe, expect } from 'vitest';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { startEverythingServer, toolNamed } from '../support/mcp-server.ts';
import { runSql } from '../support/run-sql.ts';
import { createRemote, test } from './discovery-fixture.ts';
import { createToolkit, STDIO } from './toolkit-fixture.ts';

const tools = (...names: string[]) => ({ tools: names.map((name) => toolNamed(name)) });
const stored = (...states: [name: string, approved: boolean][]) =>
  states.map(([name, approved]) => expect.objectContaining({ name, approved }));

test('the tools of the reference server are stored, changed and approved', async ({ eve }) => {
  const everything = await startEverythingServer('streamableHttp');
  try {
    const { id, path } = await createRemote(eve, everything.url);
    const { body } = await expectStatusOf(eve.post(`${path}/discover`), 200);
    expect(body.serverInfo).toEqual({ name: 'mcp-servers/everything', version: '2.0.0' });
    const names = body.tools.map(({ name }: { name: string }) => name);
    expect(names).toContain('echo');
    expect(body.diff).toEqual({ added: names, removed: [], changed: [] });
    expect(Object.keys(body.tools[0])).toEqual(['name', 'description', 'inputSchema']);

    const record = await expectBody(eve.get(path), 200, { serverInfo: body.serverInfo });
    expect(record.tools.map(({ name, approved }: { name: string; approved: boolean }) => [name, approved])).toEqual(
      names.map((name: string) => [name, true]),
    );
    expect(Date.parse(record.discoveredAt)).toBeGreaterThan(Date.parse(record.createdAt));

    expect(body.notes).toEqual([]);
    const again = await eve.data(
      `mutation ($id: ID!) { discoverToolkit(id: $id) {
        notes serverInfo { name } diff { added removed changed } tools { name } toolkit { id discoveredAt } } }`,
      { id },
    );
    expect(again.discoverToolkit).toEqual({
      notes: [],
      serverInfo: { name: 'mcp-servers/everything' },
      diff: { added: [], removed: [], changed: [] },
      tools: names.map((name: string) => ({ name })),
      toolkit: { id, discoveredAt: expect.any(String) },
    });
    expect(Date.parse(again.discoverToolkit.toolkit.discoveredAt)).toBeGreaterThan(Date.parse(record.discoveredAt));
  } finally {
    await everything.close();
  }
});

async function expectStatusOf<R extends { status: number }>(response: Promise<R>, status: number): Promise<R> {
  const received = await response;
  expect(received).toMatchObject({ status });
  return received;
}

test('what is added and changed later waits for approval', async ({ eve, server, remote }) => {
  server.list = () => tools('kept', 'changed', 'removed');
  const { path } = await remote();
  await expectStatus(eve.post(`${path}/discover`), 200);
  server.list = () => ({
    tools: [toolNamed('added'), toolNamed('changed', { description: 'New' }), toolNamed('kept')],
  });
  const { diff } = await expectBody(eve.post(`${path}/discover`), 200, {});
  expect(diff).toEqual({ added: ['added'], removed: ['removed'], changed: ['changed'] });
  const record = await expectBody(eve.get(path), 200, {});
  expect(record.tools).toEqual(stored(['added', false], ['changed', false], ['kept', true]));
  await expectStatus(eve.post(`${path}/tools/_approve`, { names: ['changed'] }), 200);
  const approved = await expectBody(eve.get(path), 200, {});
  expect(approved.tools).toEqual(stored(['added', false], ['changed', true], ['kept', true]));
});

test('a failed discovery changes nothing', async ({ eve, server, remote }) => {
  const { path } = await remote();
  await expectStatus(eve.post(`${path}/discover`), 200);
  const { body: before } = await eve.get(path);
  server.list = () => tools('one', 'one');
  await expectError(eve.post(`${path}/discover`), 500, /"127\.0\.0\.1".*tools\.1\.name must be unique: "one" is not/);
  expect((await eve.get(path)).body).toEqual(before);
});

describe('the limits of a tool', () => {
  const deep = (levels: number): unknown => (levels === 0 ? {} : { items: deep(levels - 1) });
  const LIMITS: [tool: object, problem: string][] = [
    [{ name: 'x'.repeat(129) }, 'name must have at most 128 characters'],
    [{ name: '' }, 'name must not be empty'],
    [{ name: 'two\nlines' }, 'name must not contain control characters'],
    [{ name: 'bell\u0007' }, 'name must not contain control characters'],
    [{ description: 'x'.repeat(8193) }, 'description must have at most 8 KiB'],
    [{ description: 'nul\u0000' }, 'description must be Unicode without NUL'],
    [{ inputSchema: { type: 'object', title: 'x'.repeat(65_536) } }, 'inputSchema must have at most 64 KiB as JSON'],
    [{ inputSchema: { type: 'object', items: deep(200) } }, 'inputSchema must nest at most 100 levels'],
    [{ inputSchema: { type: 'object', title: '\u0000' } }, 'inputSchema must be Unicode without NUL'],
  ];

  test.for(LIMITS)('%#: a tool past it is left out', async ([tool, problem], { eve, server, remote }) => {
    const odd = toolNamed('tool', tool as Record<string, unknown>);
    const note = `The tool ${JSON.stringify((odd.name as string).slice(0, 80))} is left out: ${problem}`;
    server.list = () => ({ tools: [odd, toolNamed('good')] });
    const { path } = await remote();
    const { tools: found, notes } = await expectBody(eve.post(`${path}/discover`), 200, {});
    expect(found.map(({ name }: { name: string }) => name)).toEqual(['good']);
    expect(notes).toEqual([note]);
    server.list = () => ({ tools: [odd] });
    const failed = await eve.post(`${path}/discover`);
    expect(failed).toMatchObject({ status: 500, body: { code: 'UPSTREAM_FAILED' } });
    expect(failed.body.message).toBe(`The MCP server "127.0.0.1" has no tool that can be used. ${note}`);
    expect((await eve.get(path)).body.tools).toEqual(stored(['good', true]));
  });

  test('tools at the limits are stored as they are', async ({ eve, server, remote }) => {
    const name = 'x'.repeat(128);
    const schema = { type: 'object', a: deep(98), title: '雪'.repeat(1000), ['__proto__x']: null };
    server.list = () => ({ tools: [toolNamed(name, { description: 'd'.repeat(8192), inputSchema: schema })] });
    const { path } = await remote();
    await expectStatus(eve.post(`${path}/discover`), 200);
    const { tools: found } = await expectBody(eve.get(path), 200, {});
    expect(found).toEqual([{ name, description: 'd'.repeat(8192), inputSchema: schema, approved: true }]);
  });
});

describe('callers and types', () => {
  test('other types are refused, a disabled toolkit too', async ({ eve, remote }) => {
    const stdio = await createToolkit(eve, { config: STDIO });
    await expectError(eve.post(`${stdio.path}/discover`), 400, /mcp-remote only; "Tools" is of the type mcp-stdio/);
    const disabled = await remote({ enabled: false });
    await expectError(eve.post(`${disabled.path}/discover`), 409, /is disabled/);
  });

  test('it takes toolkit:write', async ({ eve, ann, stranger, anonymous, remote }) => {
    const { path } = await remote();
    await expectStatus(anonymous.post(`${path}/discover`), 401);
    await expectStatus(ann.post(`${path}/discover`), 404);
    await expectStatus(stranger.post(`${path}/discover`), 404);
    await eve.put(`${path}/shares/${ann.username}`, { accessLevel: 1 });
    await expectError(ann.post(`${path}/discover`), 403, /toolkit:write/);
    await eve.put(`${path}/shares/${ann.username}`, { accessLevel: 2 });
    await expectStatus(ann.post(`${path}/discover`), 200);
  });

  test('a server that is not there: 503', async ({ eve, server }) => {
    await server.close();
    const { path } = await createRemote(eve, server.url);
    await expectError(eve.post(`${path}/discover`), 503, 'The host "127.0.0.1" does not respond');
  });

  test('headers are sent, and are in no response', async ({ eve, server }) => {
    const headers = { 'X-Key': 'a very secret key' };
    const { path } = await createRemote(eve, server.url, { config: { url: server.url, transport: 'http', headers } });
    server.intercept = (request, response) => {
      if (request.headers['x-key'] === headers['X-Key']) return false;
      response.writeHead(401).end();
      return true;
    };
    const { body } = await expectStatusOf(eve.post(`${path}/discover`), 200);
    expect(JSON.stringify([body, (await eve.get(path)).body])).not.toContain('very secret');
    server.intercept = ({ headers: sent }, response) => {
      response.writeHead(500).end(`No: ${sent['x-key']}`);
      return true;
    };
    const failed = await eve.post(`${path}/discover`);
    expect(failed).toMatchObject({ status: 500, body: { message: expect.not.stringContaining('very secret') } });
  });
});

describe('during a discovery', () => {
  test('the service responds, and no database connection waits', async ({ service, eve, server, remote }) => {
    const { path } = await remote();
    const paths = await Promise.all(Array.from({ length: 14 }, async () => (await remote()).path));
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    let waiting = 0;
    server.intercept = async () => {
      waiting += 1;
      if (waiting === 8) reached.resolve();
      await released.promise;
      return false;
    };
    const discoveries = paths.map((each) => eve.post(`${each}/discover`));
    // Half of the places of the gate.
    await reached.promise;
    await expectStatus(eve.get(path), 200);
    const busy = await runSql(
      service.databaseUrl,
      `select pid from pg_stat_activity
      where datname = current_database() and application_name = 'dws' and state = 'idle in transaction'`,
    );
    expect(busy).toEqual([]);
    released.resolve();
    expect((await Promise.all(discoveries)).map(({ status }) => status)).toEqual(paths.map(() => 200));
  });

  test('a change of the configuration is a conflict, and nothing is stored', async ({ eve, server, remote }) => {
    const { path } = await remote();
    server.intercept = async ({ message }) => {
      if (message.method === 'tools/list')
        await eve.put(path, { config: { url: server.url, transport: 'http', headers: { 'X-New': 'other' } } });
      return false;
    };
    await expectError(eve.post(`${path}/discover`), 409, /configuration has changed since the discovery started/);
    await expectBody(eve.get(path), 200, { tools: [], discoveredAt: null });
  });

  test('a deletion is not found', async ({ eve, server, remote }) => {
    const { path } = await remote();
    server.intercept = async ({ message }) => {
      if (message.method === 'tools/list') await eve.delete(path);
      return false;
    };
    await expectStatus(eve.post(`${path}/discover`), 404);
  });
});
