import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openMcpClient } from '../../src/adapters/mcp/mcp-client.ts';
import { openOutboundClient } from '../../src/adapters/outbound/outbound-client.ts';
import type { McpServer } from '../../src/core/mcp.ts';
import { VERSION } from '../../src/server/package-root.ts';
import { KIND_SERVER, sendJson, startMcpServer, toolNamed, type TestMcpServer } from '../support/mcp-server.ts';

const outbound = openOutboundClient({ allowed: ['127.0.0.1'] });
const mcp = openMcpClient({ outbound, version: VERSION });
let server: TestMcpServer;
let target: McpServer;

beforeAll(async () => {
  server = await startMcpServer();
  target = { url: server.url, transport: 'http', headers: {}, token: null };
});
beforeEach(() => {
  Object.assign(server, { requests: [], ...KIND_SERVER });
});
afterAll(async () => {
  await Promise.all([server.close(), outbound.close()]);
});

const discover = () => mcp.discover(target, new AbortController().signal);
const call = () => mcp.callTool(target, { name: 'only', arguments: {} }, new AbortController().signal);
const received = (): (string | undefined)[] =>
  server.requests.map(({ method, message }) => message.method ?? method).filter((name) => name !== 'server/discover');

describe('a tool that is not of the protocol is left out, and named', () => {
  const ODD: [odd: unknown, note: RegExp][] = [
    [{ name: 'odd' }, /^The tool "odd" is left out: inputSchema: /],
    [toolNamed('odd', { inputSchema: null }), /^The tool "odd" is left out: inputSchema: /],
    [toolNamed('odd', { inputSchema: {} }), /^The tool "odd" is left out: inputSchema\.type: /],
    [toolNamed('odd', { inputSchema: { type: 'string' } }), /^The tool "odd" is left out: inputSchema\.type: /],
    [
      toolNamed('odd', { inputSchema: { type: 'object', properties: [] } }),
      /"odd" is left out: inputSchema\.properties: /,
    ],
    [
      toolNamed('odd', { inputSchema: { type: 'object', required: 'a' } }),
      /"odd" is left out: inputSchema\.required: /,
    ],
    [toolNamed('odd', { description: 5 }), /^The tool "odd" is left out: description: /],
    [{ inputSchema: { type: 'object' } }, /^The tool 2 is left out: name: /],
    [{ name: 7, inputSchema: { type: 'object' } }, /^The tool 2 is left out: name: /],
    [{ name: `odd${'x'.repeat(10_000)}` }, /^The tool "oddx{77}" is left out/],
    ['odd', /^The tool 2 is left out: name: /],
    [null, /^The tool 2 is left out: name: /],
  ];

  test.for(ODD)('%#', async ([odd, note]) => {
    server.list = () => ({ tools: [toolNamed('one'), odd, toolNamed('two')] });
    const { tools, notes } = await discover();
    expect(tools.map(({ name }) => name)).toEqual(['one', 'two']);
    expect(notes).toEqual([expect.stringMatching(note)]);
  });

  test('what this service does not use of a tool may be odd', async () => {
    server.list = () => ({ tools: [toolNamed('odd', { title: 5, annotations: 'x', outputSchema: [], icons: {} })] });
    expect(await discover()).toMatchObject({ tools: [{ name: 'odd' }], notes: [] });
  });

  test('the notes are limited', async () => {
    server.list = () => ({ tools: [toolNamed('good'), ...Array.from({ length: 100 }, () => ({ name: 'odd' }))] });
    const { notes } = await discover();
    expect(notes).toHaveLength(21);
    expect(notes.at(-1)).toBe('More tools are left out');
  });

  test('in the revision 2026-07-28, too', async () => {
    const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
    server.intercept = ({ message: { id, method } }, response) => {
      const results: Record<string, object> = {
        'server/discover': { ...complete, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
        'tools/list': {
          ...complete,
          nextCursor: null,
          tools: [{ name: 'odd' }, toolNamed('good', { description: null })],
        },
      };
      sendJson(response, { jsonrpc: '2.0', id, result: results[method!] });
      return true;
    };
    const { tools, notes } = await discover();
    expect(tools).toEqual([{ name: 'good', description: null, inputSchema: { type: 'object' } }]);
    expect(notes).toEqual([expect.stringMatching(/^The tool "odd" is left out: inputSchema: /)]);
  });
});

test('null counts as absent', async () => {
  server.sendsNulls = true;
  server.list = () => ({ tools: [toolNamed('only', { inputSchema: { type: 'object', default: null } })] });
  expect(await discover()).toEqual({
    serverInfo: { name: 'test-server', version: '1.2.3' },
    tools: [{ name: 'only', description: null, inputSchema: { type: 'object', default: null } }],
    notes: [],
  });
  expect(await call()).toEqual({ text: 'done', isError: false });
});

describe('a server that has forgotten the session', () => {
  /** Forgets its sessions before it reads the first message of this method, `times` times. */
  const forgetAt = (method: string, times = 1): void => {
    server.hasSessions = true;
    let left = times;
    server.intercept = ({ message }) => {
      if (message.method === method && left-- > 0) server.forgetSessions();
      return false;
    };
  };
  const HANDSHAKE = ['initialize', 'notifications/initialized'];

  test.for(['tools/list', 'notifications/initialized'])('gets a new one: %s', async (method) => {
    forgetAt(method);
    expect((await discover()).tools.map(({ name }) => name)).toEqual(['only']);
    expect(received().filter((name) => name === 'initialize')).toHaveLength(2);
  });

  test('gets a new one for a call of a tool, which runs once', async () => {
    forgetAt('tools/call');
    let calls = 0;
    server.call = () => ({ content: [{ type: 'text', text: `call ${(calls += 1)}` }] });
    expect(await call()).toEqual({ text: 'call 1', isError: false });
    expect(received()).toEqual([...HANDSHAKE, 'tools/call', ...HANDSHAKE, 'tools/call', 'DELETE']);
  });

  test('in the middle of a list, it is read again from its beginning', async () => {
    server.hasSessions = true;
    let pages = 0;
    server.list = ({ cursor }) => {
      if ((pages += 1) === 1) server.forgetSessions();
      return cursor === undefined
        ? { tools: [{ name: 'odd' }, toolNamed('first')], nextCursor: 'second' }
        : { tools: [toolNamed('second')] };
    };
    const { tools, notes } = await discover();
    expect(tools.map(({ name }) => name)).toEqual(['first', 'second']);
    expect(notes).toHaveLength(1);
  });

  test('again fails after the second', async () => {
    forgetAt('tools/call', 5);
    await expect(call()).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
      message: expect.stringMatching(
        /^The MCP server "127\.0\.0\.1" responds with 404 to its own sessions: .*Session not found/,
      ),
    });
    expect(received()).toEqual([...HANDSHAKE, 'tools/call', ...HANDSHAKE, 'tools/call']);
  });

  test('a 404 without a session is not repeated', async () => {
    server.intercept = ({ message }, response) => {
      if (message.method === 'tools/call') response.writeHead(404).end('gone');
      return message.method === 'tools/call';
    };
    await expect(call()).rejects.toMatchObject({ message: expect.stringContaining('does not follow the protocol') });
    expect(received()).toEqual([...HANDSHAKE, 'tools/call']);
  });
});

test.for(['initialize', 'tools/list', 'tools/call'])(
  'a server that refuses %s with 403 is named so',
  async (method) => {
    server.intercept = ({ message }, response) => {
      if (message.method === method) response.writeHead(403).end('Your plan has no tools');
      return message.method === method;
    };
    await expect(method === 'tools/call' ? call() : discover()).rejects.toMatchObject({
      status: 500,
      code: 'UPSTREAM_FAILED',
      message: expect.stringMatching(
        /^The MCP server "127\.0\.0\.1" refuses access with 403: .*Your plan has no tools/,
      ),
    });
  },
);
