import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { freePort } from '../../tools/engine.ts';

/** A message of JSON-RPC. */
export interface RpcMessage {
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
}

interface McpRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  message: RpcMessage;
}

/** An MCP server on loopback, as small as the protocol permits, which records what it receives. */
export interface TestMcpServer {
  url: string;
  requests: McpRequest[];
  /** Returns the result of `tools/list`. */
  list: (params: Record<string, unknown>) => unknown;
  /** Returns the result of `tools/call`. */
  call: (params: Record<string, unknown>) => unknown;
  /**
   * Whether it starts sessions. Then requests without a session are 400, and requests with a forgotten session are 404:
   * https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#session-management
   */
  hasSessions: boolean;
  /** Forgets its sessions, as at a restart. */
  forgetSessions(): void;
  /**
   * Whether it writes null for absent values, as servers with serializers of Java, C# and Python do
   * (https://github.com/socfortress/Wazuh-MCP-Server/issues/75).
   */
  sendsNulls: boolean;
  /** Handles a request in place of the protocol if it returns true. */
  intercept: (request: McpRequest, response: ServerResponse) => boolean | Promise<boolean>;
  close(): Promise<void>;
}

/** Returns a tool with this name, and without arguments. */
export const toolNamed = (name: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
});

/** Starts a server of the protocol of 2025 over streamable HTTP. */
export async function startMcpServer(): Promise<TestMcpServer> {
  const sessions = new Set<string>();
  const http = createServer((request, response) => {
    receive(server, sessions, request, response).catch((error: Error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const server: TestMcpServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    requests: [],
    ...KIND_SERVER,
    forgetSessions: () => sessions.clear(),
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}

/** Default behaviour of a server, which a test may change. */
export const KIND_SERVER: Pick<TestMcpServer, 'list' | 'call' | 'intercept' | 'hasSessions' | 'sendsNulls'> = {
  list: () => ({ tools: [toolNamed('only')] }),
  call: () => ({ content: [{ type: 'text', text: 'done' }] }),
  intercept: () => false,
  hasSessions: false,
  sendsNulls: false,
};

async function receive(
  server: TestMcpServer,
  sessions: Set<string>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await text(request);
  const { method = '', url = '', headers } = request;
  const received = { method, url, headers, message: (body ? JSON.parse(body) : {}) as RpcMessage };
  server.requests.push(received);
  if (await server.intercept(received, response)) return;
  const { message } = received;
  if (server.hasSessions && !hasSession(sessions, received, response)) return;
  if (method !== 'POST') return void response.writeHead(405).end();
  if (message.id === undefined) return void response.writeHead(202).end();
  const result = resultOf(server, message);
  const outcome = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
  sendJson(response, { jsonrpc: '2.0', id: message.id, ...outcome });
}

/** Starts or ends the session of a request. Refuses one without a known session, and returns false. */
function hasSession(
  sessions: Set<string>,
  { method, headers, message }: McpRequest,
  response: ServerResponse,
): boolean {
  if (message.method === 'initialize') {
    const id = randomUUID();
    sessions.add(id);
    response.setHeader('mcp-session-id', id);
    return true;
  }
  const id = headers['mcp-session-id'] as string | undefined;
  if (id !== undefined && sessions.has(id)) {
    if (method === 'DELETE') sessions.delete(id);
    return true;
  }
  const error = { code: -32001, message: id === undefined ? 'Session required' : 'Session not found' };
  response.writeHead(id === undefined ? 400 : 404, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
  return false;
}

function resultOf(server: TestMcpServer, { method, params = {} }: RpcMessage): unknown {
  const { sendsNulls } = server;
  if (method === 'initialize') {
    const result = initializeResult(params);
    const { capabilities, serverInfo } = result;
    const withNulls = {
      ...result,
      instructions: null,
      capabilities: { ...capabilities, tools: { listChanged: null }, prompts: null },
      serverInfo: { ...serverInfo, title: null, websiteUrl: null },
    };
    return sendsNulls ? withNulls : result;
  }
  if (method === 'tools/list') {
    const result = server.list(params) as { tools: object[] };
    const absent = { title: null, description: null, annotations: null, outputSchema: null, _meta: null };
    return sendsNulls
      ? { nextCursor: null, ...result, tools: result.tools.map((tool) => ({ ...absent, ...tool })) }
      : result;
  }
  if (method === 'tools/call') {
    const result = server.call(params) as { content: object[] };
    const content = result.content.map((part) => ({ annotations: null, _meta: null, ...part }));
    return sendsNulls ? { structuredContent: null, isError: null, ...result, content } : result;
  }
  return undefined;
}

/** Returns the response to `initialize` of a server with tools. */
export const initializeResult = (params: Record<string, unknown>) => ({
  protocolVersion: params.protocolVersion,
  capabilities: { tools: {} },
  serverInfo: { name: 'test-server', version: '1.2.3' },
});

/** Sends a JSON response with status 200. */
export function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

const require = createRequire(import.meta.url);

/** Programs of reference servers. */
export const REFERENCE_SERVERS = {
  everything: require.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
  filesystem: require.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'),
};

/** A reference server over HTTP, in its own process. */
export interface EverythingServer {
  url: string;
  close(): Promise<void>;
}

/** Starts the reference server with all features of the protocol. */
export async function startEverythingServer(transport: 'streamableHttp' | 'sse'): Promise<EverythingServer> {
  const port = await freePort();
  const child = spawn(process.execPath, [REFERENCE_SERVERS.everything, transport], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  child.stderr.setEncoding('utf8');
  for await (const part of child.stderr.iterator({ destroyOnReturn: false }))
    if ((part as string).includes(String(port))) break;
  child.stderr.resume();
  return {
    url: `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`,
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
