import type { OAuthClient, TokenSource } from './connection.ts';

/** Maximum number of tools of a toolkit. */
export const MAX_TOOLS = 500;

/** A remote MCP server. */
export interface McpServer {
  url: string;
  transport: 'http' | 'sse';
  /** Headers with their secrets. */
  headers: Readonly<Record<string, string>>;
  /** Returns the access token of its connection; null if it has none. */
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

/** How this service is known at the authorization server of an MCP server. */
export interface McpRegistration {
  clientId: string;
  clientSecret: string | null;
  /** Null for the scope that the server names. */
  scope: string | null;
}

/** The client of remote MCP servers. */
export interface McpClient {
  /**
   * Lists the tools of a server, at most `MAX_TOOLS`, within 30 seconds and 4 MB. Throws UNAVAILABLE if it does not respond,
   * BAD_USER_INPUT if calls to it are not allowed, UPSTREAM_FAILED for all else, naming what was wrong. Names,
   * descriptions and schemas have no limits of their own.
   */
  discover(server: McpServer, signal: AbortSignal): Promise<McpDescription>;
  /**
   * Returns the client with which users authorize calls of a server: that of `registration`, or one that is registered
   * for `redirectUri` now. Throws like `discover`.
   */
  createOAuthClient(
    server: McpServer,
    registration: McpRegistration | null,
    redirectUri: string,
    signal: AbortSignal,
  ): Promise<OAuthClient>;
}
