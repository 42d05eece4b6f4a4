import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import type { Client } from '../support/client.ts';
import { dws, type CommandResult } from '../support/command.ts';
import { expectBody, expectStatus } from '../support/expect.ts';
import { REFERENCE_SERVERS } from '../support/mcp-server.ts';
import type { Service } from '../support/service.ts';
import { createToolkit, test } from './toolkit-fixture.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dws-stdio-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});
afterAll(() => rm(folder, { recursive: true }));

const discover = ({ url }: Service, client: Client, id: string, ...more: string[]): Promise<CommandResult> =>
  dws(
    { DWS_TOKEN: client.headers.authorization!.slice('Bearer '.length) },
    'toolkit',
    'discover',
    id,
    '--url',
    url,
    ...more,
  );

/** Writes an MCP server that runs on Node. `list` is the expression of its tools. Returns its config. */
async function writeServer(name: string, list: string): Promise<{ command: string; args: string[] }> {
  const file = join(folder, `${name}.mjs`);
  await writeFile(
    file,
    `import { appendFileSync } from 'node:fs';
    import { createInterface } from 'node:readline';
    appendFileSync(${JSON.stringify(join(folder, `${name}.pids`))}, process.pid + '\\n');
    const send = (id, outcome) => console.log(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
    for await (const line of createInterface({ input: process.stdin })) {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined) continue;
      if (method === 'initialize') send(id, { result: { protocolVersion: params.protocolVersion,
        capabilities: { tools: {} }, serverInfo: { name: 'local', version: '1' } } });
      else if (method === 'tools/list') send(id, { result: { tools: ${list} } });
      else send(id, { error: { code: -32601, message: 'Method not found' } });
    }`,
  );
  await chmod(file, 0o700);
  return { command: process.execPath, args: [file] };
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('the tools of a server on this machine are stored by the API', async ({ service, eve }) => {
  const config = { command: process.execPath, args: [REFERENCE_SERVERS.everything, 'stdio'] };
  const { id, path } = await createToolkit(eve, { config });
  const { out, code } = await discover(service, eve, id);
  expect(code).toBe(0);
  expect(out[0]).toMatch(/^Found \d+ tools of mcp-servers\/everything 2\.0\.0$/);
  expect(out).toContain('added\techo');
  const record = await expectBody(eve.get(path), 200, { serverInfo: { name: 'mcp-servers/everything' } });
  expect(record.tools).toContainEqual(expect.objectContaining({ name: 'echo', approved: true }));
  expect(Number(/\d+/.exec(out[0]!)![0])).toBe(record.tools.length);
  expect((await discover(service, eve, id)).out).toEqual([out[0]]);
});

test('the files server of the templates is discovered, too', async ({ service, eve }) => {
  const config = { command: process.execPath, args: [REFERENCE_SERVERS.filesystem, folder] };
  const { id } = await createToolkit(eve, { config });
  expect((await discover(service, eve, id)).out).toContain('added\tread_text_file');
});

test('added, changed and removed tools are printed, and waiting ones', async ({ service, eve }) => {
  const tool = (name: string, more = '') => `{ name: '${name}', inputSchema: { type: 'object' }${more} }`;
  const config = await writeServer('changing', `[${tool('kept')}, ${tool('changed')}, ${tool('removed')}]`);
  const { id } = await createToolkit(eve, { config });
  expect((await discover(service, eve, id)).out).toEqual([
    'Found 3 tools of local 1',
    'added\tkept',
    'added\tchanged',
    'added\tremoved',
  ]);
  await writeServer('changing', `[${tool('kept')}, ${tool('changed', ', description: "New"')}, ${tool('added')}]`);
  expect((await discover(service, eve, id)).out).toEqual([
    'Found 3 tools of local 1',
    'added\tadded',
    'removed\tremoved',
    'changed\tchanged',
    `2 wait for approval: POST /api/toolkits/${id}/tools/_approve`,
  ]);
});

test('a tool that is not of the protocol is left out and printed', async ({ service, eve }) => {
  const config = await writeServer('odd', `[{ name: 'odd' }, { name: 'good', inputSchema: { type: 'object' } }]`);
  const { id } = await createToolkit(eve, { config });
  expect((await discover(service, eve, id)).out).toEqual([
    'Found 1 tool of local 1',
    'The tool "odd" is left out: inputSchema: Invalid input: expected object, received undefined',
    'added\tgood',
  ]);
});

test('its processes have ended when the command has', async ({ service, eve }) => {
  const config = await writeServer('ending', `[]`);
  const { id } = await createToolkit(eve, { config });
  expect((await discover(service, eve, id)).code).toBe(0);
  const pids = (await readFile(join(folder, 'ending.pids'), 'utf8')).trim().split('\n').map(Number);
  expect(pids.length).toBeGreaterThan(0);
  expect(pids.filter(isRunning)).toEqual([]);
});

test('masked variables come from --env or the shell', async ({ service, eve }) => {
  const list = `[process.env.KEY, process.env.OTHER, process.env.DWS_TOKEN ?? 'none']
    .map((name) => ({ name, inputSchema: { type: 'object' } }))`;
  const config = { ...(await writeServer('variables', list)), env: { KEY: 'stored secret', OTHER: 'stored, too' } };
  const { id, path } = await createToolkit(eve, { config });
  expect(await discover(service, eve, id, '--env', 'KEY=k')).toMatchObject({
    err: ['The service does not return the variables of "Tools". Set them: --env OTHER=…'],
    code: 1,
  });
  vi.stubEnv('OTHER', 'of the shell');
  expect((await discover(service, eve, id, '--env', 'KEY=k=1')).code).toBe(0);
  const record = await expectBody(eve.get(path), 200, { config: { env: { KEY: '••••', OTHER: '••••' } } });
  expect(record.tools.map(({ name }: { name: string }) => name)).toEqual(['k=1', 'of the shell', 'none']);
});

test('variables of the service come from --env only', async ({ service, eve }) => {
  const list = `[{ name: process.env.DWS_TOKEN, inputSchema: { type: 'object' } }]`;
  const config = { ...(await writeServer('own-variables', list)), env: { DWS_TOKEN: 'x', dws_token: 'y' } };
  const { id, path } = await createToolkit(eve, { config });
  vi.stubEnv('dws_token', 'of the shell');
  expect((await discover(service, eve, id)).err).toEqual([
    'The service does not return the variables of "Tools". Set them: --env DWS_TOKEN=… --env dws_token=…',
  ]);
  expect((await discover(service, eve, id, '--env', 'DWS_TOKEN=given', '--env', 'dws_token=given')).code).toBe(0);
  await expectBody(eve.get(path), 200, { tools: [expect.objectContaining({ name: 'given' })] });
});

test('what cannot be discovered is an error of one line', async ({ service, eve, ann }) => {
  const { id } = await createToolkit(eve, { config: { command: join(folder, 'not-there'), args: ['a b'] } });
  const missing = await discover(service, eve, id);
  expect(missing.err[0]).toBe(`Starting ${join(folder, 'not-there')} 'a b'`);
  expect(missing.err.at(-1)).toMatch(/^The MCP server did not send its tools: .*ENOENT/);
  expect(missing.code).toBe(1);
  expect((await discover(service, ann, id)).err).toEqual([
    `GET /api/toolkits/${id} responded with 404: There is no toolkit ${id}`,
  ]);
  const remote = await createToolkit(eve, {
    type: 'mcp-remote',
    config: { url: 'https://mcp.example.com/', transport: 'http' },
  });
  expect((await discover(service, eve, remote.id)).err).toEqual([
    `The service itself discovers "Tools": POST /api/toolkits/${remote.id}/discover`,
  ]);
  vi.stubEnv('DWS_TOKEN', '');
  expect((await dws({}, 'toolkit', 'discover', id, '--url', service.url)).err).toEqual([
    'Set DWS_TOKEN to a token of the API with the scopes read and write',
  ]);
  expect((await discover(service, eve, id, '--env', 'KEY')).err.join('\n')).toContain('It must be NAME=value.');
  expect((await dws({ DWS_TOKEN: 'x' }, 'toolkit', 'discover', id, '--url', 'http://127.0.0.1:1')).err[0]).toMatch(
    /^http:\/\/127\.0\.0\.1:1 does not respond/,
  );
});

test('nothing is started for a user who may only read the toolkit', async ({ service, eve, bob }) => {
  const config = await writeServer('unread', '[]');
  const { id, path } = await createToolkit(eve, { config });
  await expectStatus(eve.put(`${path}/shares/${bob.id}`, { accessLevel: 1 }), 200);
  expect(await discover(service, bob, id)).toMatchObject({
    err: ['You lack the permission toolkit:write on "Tools"'],
    code: 1,
  });
});

test('a server that ends immediately is named', async ({ service, eve }) => {
  const { id } = await createToolkit(eve, { config: { command: process.execPath, args: ['-e', 'process.exit(3)'] } });
  const { err, code } = await discover(service, eve, id);
  expect(code).toBe(1);
  expect(err.at(-1)).toMatch(/^The MCP server did not send its tools: /);
});

test('the help names the command', async () => {
  expect((await dws({}, '--help')).out.join('\n')).toContain('toolkit');
  expect((await dws({}, 'toolkit', 'discover', '--help')).out.join('\n')).toContain('DWS_TOKEN');
});
