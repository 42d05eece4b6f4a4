import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type JSONRPCMessage,
} from '@modelcontextprotocol/client';
import { upstreamFailed } from '../../core/errors.ts';
import { MAX_TOOLS, type McpServer } from '../../core/mcp.ts';
import { introduce, tooManyTools } from './describe-server.ts';
import { McpExchange, type ExchangeOptions } from './mcp-exchange.ts';

type HttpTransport = StreamableHTTPClientTransport | SSEClientTransport;

/** Statuses by which a server refuses the first POST if it knows only the transport of 2024, HTTP with SSE. */
const NO_STREAMABLE_HTTP: ReadonlySet<number | null> = new Set([400, 404, 405]);
/** Time for telling the server that its session has ended, for which the caller waits. */
const END_SESSION_TIMEOUT_MS = 2000;

/** A server to which this service is connected. */
export interface ConnectedServer {
  client: Client;
  host: string;
  /** For each request of the SDK. The exchange ends earlier, with a better message. */
  options: { timeout: number };
  /** Returns a text of the server without secrets. */
  mask(text: string): string;
}

/**
 * Connects to a server, runs work on the connection and ends it, all within one exchange. `expected` names what the server
 * sends, for the error of one that is late. Throws as `McpClient.discover` does.
 */
export async function withServer<T>(
  options: ExchangeOptions,
  server: McpServer,
  caller: AbortSignal,
  expected: string,
  work: (connected: ConnectedServer) => Promise<T>,
): Promise<T> {
  const exchange = new McpExchange(options, server, caller);
  const timeout = 2 * exchange.timeoutMs;
  const transports: HttpTransport[] = [];
  const connect = async (transport: HttpTransport): Promise<Client> => {
    transports.push(transport);
    onEachMessage(transport, (message) => checkToolCount(exchange, message));
    const client = new Client(introduce(options.version), { versionNegotiation: { mode: 'auto' } });
    await client.connect(transport, { timeout });
    return client;
  };
  try {
    return await exchange.run(expected, async () => {
      const client = await connectToServer(exchange, server, connect);
      const result = await work({
        client,
        host: exchange.host,
        options: { timeout },
        mask: (text) => exchange.mask(text),
      });
      await endSession(exchange, server, transports.at(-1)!);
      return result;
    });
  } finally {
    // Those of the SDK would reconnect.
    await Promise.allSettled(transports.map((transport) => transport.close()));
  }
}

/** Connects by the transport of the server. Streamable HTTP turns to SSE if the server does not know it. */
async function connectToServer(
  exchange: McpExchange,
  { url: text, transport }: McpServer,
  connect: (transport: HttpTransport) => Promise<Client>,
): Promise<Client> {
  const url = new URL(text);
  const connectBySse = () => connect(new SSEClientTransport(url, { fetch: exchange.fetch }));
  if (transport === 'sse') return connectBySse();
  try {
    return await connect(new StreamableHTTPClientTransport(url, { fetch: withoutIdleStream(exchange.fetch) }));
  } catch (error) {
    if (exchange.hasSucceeded || !NO_STREAMABLE_HTTP.has(exchange.lastStatus)) throw error;
    const status = exchange.lastStatus;
    return connectBySse().catch(() => {
      throw upstreamFailed(
        `The MCP server "${exchange.host}" responded with ${status} to streamable HTTP, and does not support SSE either`,
      );
    });
  }
}

/** Runs a check on each message before the SDK does. */
function onEachMessage(transport: HttpTransport, check: (message: JSONRPCMessage) => void): void {
  let handler = transport.onmessage;
  Object.defineProperty(transport, 'onmessage', {
    get: () => handler,
    set(next: typeof handler) {
      handler =
        next &&
        ((message: JSONRPCMessage) => {
          check(message);
          next(message);
        });
    },
  });
}

/** Ends the exchange at too many tools, before the SDK reads each of them, which would take long. */
function checkToolCount(exchange: McpExchange, message: JSONRPCMessage): void {
  const { tools } = ('result' in message ? message.result : {}) as { tools?: unknown };
  if (Array.isArray(tools) && tools.length > MAX_TOOLS) exchange.fail(tooManyTools(exchange.host));
}

/** Refuses the stream for messages that are no responses, as a server may, too: discovery needs none of them. */
const withoutIdleStream =
  (fetch: McpExchange['fetch']): McpExchange['fetch'] =>
  async (url, init) => {
    const isIdleStream = (init?.method ?? 'GET') === 'GET' && !new Headers(init?.headers).has('last-event-id');
    return isIdleStream ? new Response(null, { status: 405 }) : fetch(url, init);
  };

/** Ends the session that the server may have started. */
async function endSession(exchange: McpExchange, { url }: McpServer, transport: HttpTransport): Promise<void> {
  if (!(transport instanceof StreamableHTTPClientTransport) || transport.sessionId === undefined) return;
  const headers = {
    'mcp-session-id': transport.sessionId,
    'mcp-protocol-version': transport.protocolVersion ?? '',
  };
  await exchange.notify(url, { method: 'DELETE', headers }, END_SESSION_TIMEOUT_MS);
}
