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
import { readServerMessages } from './server-messages.ts';

type HttpTransport = StreamableHTTPClientTransport | SSEClientTransport;

/** Statuses by which a server refuses the first POST if it knows only the transport of 2024, HTTP with SSE. */
const NO_STREAMABLE_HTTP: ReadonlySet<number | null> = new Set([400, 404, 405]);
/** Time for telling the server that its session has ended. The caller waits for it. */
const END_SESSION_TIMEOUT_MS = 2000;

/** A connected server. */
export interface ConnectedServer {
  client: Client;
  host: string;
  /** Notes about what is left out of its messages. */
  notes: string[];
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
  const attempt = async (): Promise<T> => {
    let notes: string[] = [];
    const client = await connectToServer(exchange, server, async (transport) => {
      transports.push(transport);
      notes = readServerMessages(transport, (message) => checkToolCount(exchange, message));
      const connecting = new Client(introduce(options.version), { versionNegotiation: { mode: 'auto' } });
      await connecting.connect(transport, { timeout });
      return connecting;
    });
    return work({ client, host: exchange.host, notes, options: { timeout }, mask: (text) => exchange.mask(text) });
  };
  try {
    return await exchange.run(expected, async () => {
      const result = await withNewSession(exchange, attempt);
      await endSession(exchange, server, transports.at(-1)!);
      return result;
    });
  } finally {
    // The SDK's transports would otherwise reconnect.
    await Promise.allSettled(transports.map((transport) => transport.close()));
  }
}

/**
 * Runs an attempt, and a second one if the server has forgotten the session of the first: then clients must initialize a
 * new one, and nothing of the request was done (MCP 2025-06-18, Session Management).
 */
async function withNewSession<T>(exchange: McpExchange, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!exchange.hasLostSession) throw error;
    return attempt();
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

/** Ends the exchange at too many tools, before the SDK reads each of them, which would take long. */
function checkToolCount(exchange: McpExchange, message: JSONRPCMessage): void {
  const { tools } = ('result' in message ? message.result : {}) as { tools?: unknown };
  if (Array.isArray(tools) && tools.length > MAX_TOOLS) exchange.fail(tooManyTools(exchange.host));
}

/** Refuses the stream for messages that are not responses, as a server may, too: discovery needs none of them. */
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
