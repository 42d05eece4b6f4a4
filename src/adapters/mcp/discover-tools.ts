import type { McpDescription, McpServer } from '../../core/mcp.ts';
import { describeServer } from './describe-server.ts';
import type { ExchangeOptions } from './mcp-exchange.ts';
import { withServer } from './server-connection.ts';

/** Lists the tools of a remote MCP server as `McpClient.discover` does. */
export const discoverTools = (
  options: ExchangeOptions,
  server: McpServer,
  caller: AbortSignal,
): Promise<McpDescription> =>
  withServer(options, server, caller, 'its tools', ({ client, host, notes, options: request }) =>
    describeServer(client, host, notes, request),
  );
