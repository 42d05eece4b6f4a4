import type { TokenSource } from './connection.ts';

/** A remote MCP server. */
export interface McpServer {
  url: string;
  transport: 'http' | 'sse';
  /** Headers with their secrets. */
  headers: Readonly<Record<string, string>>;
  /** Gives the access token of its connection; null if it has none. */
  token: TokenSource | null;
}

/** A tool as a server describes it. */
export interface McpTool {
  name: string;
  description: string | null;
  /** JSON Schema of its arguments. */
  inputSchema: Record<string, unknown>;
}

/** What a server offers. */
export interface McpDescription {
  serverInfo: { name: string; version: string };
  tools: McpTool[];
}

/** The client of remote MCP servers. */
export interface McpClient {
  /**
   * Lists the tools of a server, within 30 seconds and 4 MB. Throws UNAVAILABLE if it does not respond, BAD_USER_INPUT if
   * calls to it are not allowed, UPSTREAM_FAILED for all else, naming what was wrong.
   */
  discover(server: McpServer, signal: AbortSignal): Promise<McpDescription>;
}
