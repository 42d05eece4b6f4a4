import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openMcpClient } from '../../src/adapters/mcp/mcp-client.ts';
import { openOutboundClient } from '../../src/adapters/outbound/outbound-client.ts';
import type { McpDescription, McpServer } from '../../src/core/mcp.ts';
import { VERSION } from '../../src/server/package-root.ts';
import {
  KIND_SERVER,
  sendJson,
  startEverythingServer,
  startMcpServer,
  toolNamed,
  type EverythingServer,
  type TestMcpServer,
} from '../support/mcp-server.ts';

const outbound = openOutboundClient({ allowed: ['127.0.0.1'] });
const mcp = openMcpClient({ outbound, version: VERSION });
let streamable: EverythingServer;
let sse: EverythingServer;
let server: TestMcpServer;

beforeAll(async () => {
  [streamable, sse, server] = await Promise.all([
    startEverythingServer('streamableHttp'),
    startEverythingServer('sse'),
    startMcpServer(),
  ]);
});
beforeEach(() => {
  Object.assign(server, { requests: [], ...KIND_SERVER });
});
afterAll(async () => {
  await Promise.all([streamable.close(), sse.close(), server.close(), outbound.close()]);
});

const discover = (url: string, more: Partial<McpServer> = {}): Promise<McpDescription> =>
  mcp.discover({ url, transport: 'http', headers: {}, token: null, ...more }, new AbortController().signal);

/** Tools of the reference server, as its documentation lists them. */
const ECHO = {
  name: 'echo',
  description: 'Echoes back the input string',
  inputSchema: expect.objectContaining({
    type: 'object',
    properties: { message: { type: 'string', description: 'Message to echo' } },
    required: ['message'],
  }),
};

test('the tools of the reference server are found over streamable HTTP', async () => {
  const { serverInfo, tools } = await discover(streamable.url);
  expect(serverInfo).toEqual({ name: 'mcp-servers/everything', version: '2.0.0' });
  expect(tools).toContainEqual(ECHO);
  expect(tools.length).toBeGreaterThan(5);
});

test('the same tools are found over SSE, even if the toolkit names HTTP', async () => {
  const found = await discover(streamable.url);
  expect(await discover(sse.url, { transport: 'sse' })).toEqual(found);
  expect(await discover(sse.url)).toEqual(found);
});

test('headers and the token of the connection are sent with each request', async () => {
  await discover(server.url, { headers: { 'x-key': 'abc' }, token: async () => 'the token' });
  const sent = server.requests.map(({ headers }) => [headers['x-key'], headers.authorization]);
  expect(sent.length).toBeGreaterThanOrEqual(3);
  expect(new Set(sent.map(String))).toEqual(new Set(['abc,Bearer the token']));
});

test('headers of the toolkit do not replace headers of the protocol', async () => {
  await discover(server.url, { headers: { 'content-type': 'text/plain', accept: 'text/html' } });
  expect(server.requests.map(({ headers }) => headers['content-type'])).not.toContain('text/plain');
  expect(server.requests.map(({ headers }) => headers.accept)).not.toContain('text/html');
});

test('a refused token is renewed once, with the refused one named', async () => {
  const refused: (string | undefined)[] = [];
  server.intercept = ({ headers }, response) => {
    if (headers.authorization === 'Bearer new') return false;
    response.writeHead(401).end();
    return true;
  };
  const token = async (former?: string) => {
    refused.push(former);
    return former === undefined ? 'old' : 'new';
  };
  expect((await discover(server.url, { token })).tools).toHaveLength(1);
  expect(refused).toEqual([undefined, 'old']);
});

test('all pages are read, in the order of the server', async () => {
  server.list = ({ cursor = '0' }) => {
    const page = Number(cursor);
    return { tools: [toolNamed(`tool-${page}`)], ...(page < 20 && { nextCursor: String(page + 1) }) };
  };
  const { tools } = await discover(server.url);
  expect(tools.map(({ name }) => name)).toEqual(Array.from({ length: 21 }, (_, page) => `tool-${page}`));
});

test('a server without tools has none', async () => {
  server.list = () => ({ tools: [] });
  expect(await discover(server.url)).toEqual({
    serverInfo: { name: 'test-server', version: '1.2.3' },
    tools: [],
    notes: [],
  });
});

test('a server of the revision 2026-07-28 is asked without a handshake', async () => {
  const version = '2026-07-28';
  const name = { name: 'modern-server', version: '3' };
  server.intercept = ({ message: { id, method } }, response) => {
    const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
    const results: Record<string, object> = {
      'server/discover': {
        ...complete,
        supportedVersions: [version],
        capabilities: { tools: {} },
        _meta: { 'io.modelcontextprotocol/serverInfo': name },
      },
      'tools/list': { ...complete, tools: [toolNamed('modern')] },
    };
    sendJson(response, { jsonrpc: '2.0', id, result: results[method!] });
    return true;
  };
  expect(await discover(server.url)).toEqual({
    serverInfo: name,
    tools: [{ name: 'modern', description: null, inputSchema: { type: 'object' } }],
    notes: [],
  });
  expect(server.requests.map(({ message, headers }) => [message.method, headers['mcp-protocol-version']])).toEqual([
    ['server/discover', version],
    ['tools/list', version],
  ]);
});

test('a session that the server has started is ended', async () => {
  server.intercept = ({ message, method }, response) => {
    if (message.method === 'initialize') response.setHeader('mcp-session-id', 'session-1');
    if (method === 'DELETE') response.writeHead(204).end();
    return method === 'DELETE';
  };
  await discover(server.url);
  const last = server.requests.at(-1)!;
  expect([last.method, last.headers['mcp-session-id']]).toEqual(['DELETE', 'session-1']);
});
