import { spawn } from 'node:child_process';
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

/** Starts a server of the protocol of 2025 over streamable HTTP, without sessions. */
export async function startMcpServer(): Promise<TestMcpServer> {
  const http = createServer((request, response) => {
    receive(server, request, response).catch((error: Error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const server: TestMcpServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    requests: [],
    list: () => ({ tools: [toolNamed('only')] }),
    intercept: () => false,
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}

async function receive(server: TestMcpServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const { method = '', url = '', headers } = request;
  const received = { method, url, headers, message: (body ? JSON.parse(body) : {}) as RpcMessage };
  server.requests.push(received);
  if (await server.intercept(received, response)) return;
  const { message } = received;
  if (method !== 'POST') return void response.writeHead(405).end();
  if (message.id === undefined) return void response.writeHead(202).end();
  const result = resultOf(server, message);
  const outcome = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
  sendJson(response, { jsonrpc: '2.0', id: message.id, ...outcome });
}

function resultOf(server: TestMcpServer, { method, params = {} }: RpcMessage): unknown {
  if (method === 'initialize') return initializeResult(params);
  if (method === 'tools/list') return server.list(params);
  return undefined;
}

/** Returns the response to `initialize` of a server with tools. */
export const initializeResult = (params: Record<string, unknown>): unknown => ({
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
