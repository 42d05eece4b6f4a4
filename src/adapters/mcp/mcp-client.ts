import type { McpClient } from '../../core/mcp.ts';
import type { ExchangeOptions } from './mcp-exchange.ts';

/** Opens the client of remote MCP servers. Its modules are loaded with the first call. */
export const openMcpClient = (options: ExchangeOptions): McpClient => ({
  async discover(server, signal) {
    const { discoverTools } = await import('./discover-tools.ts');
    return discoverTools(options, server, signal);
  },
  async callTool(server, call, signal) {
    const { callTool } = await import('./call-tool.ts');
    return callTool(options, server, call, signal);
  },
  async createOAuthClient(server, known, signal) {
    const { createOAuthClient } = await import('./authorization-discovery.ts');
    return createOAuthClient(options, server, known, signal);
  },
});
