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

/** What a tool has returned. */
export interface McpToolResult {
  /** Texts as they are, other content named by its type. */
  text: string;
  /** Whether the tool itself says that it failed. */
  isError: boolean;
}

/** What a server offers. */
export interface McpDescription {
  serverInfo: { name: string; version: string };
  tools: McpTool[];
}

/** How this service is known at the authorization server of an MCP server. */
interface McpRegistration {
  clientId: string;
  clientSecret: string | null;
  /** Null for the scope that the server names. */
  scope: string | null;
}

/** A client as which this service has registered itself at an authorization server. */
export interface RegisteredClient {
  clientId: string;
  clientSecret: string | null;
  /** Where it is registered, and what for. */
  issuer: string;
  redirectUri: string;
  scope: string;
  /** End of the secret in milliseconds since the epoch; null if it has none. */
  expiresAt: number | null;
}

/** As which client this service asks for tokens, where it has one. */
export interface KnownClients {
  /** The client that a user has named. */
  configured: McpRegistration | null;
  /** The client of the registration before. */
  registered: RegisteredClient | null;
  redirectUri: string;
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
   * Calls a tool of a server, within the time and size of `discover`, and throws like it. `arguments` fit the schema of the
   * tool. A tool that fails has a result, too.
   */
  callTool(
    server: McpServer,
    call: { name: string; arguments: Record<string, unknown> },
    signal: AbortSignal,
  ): Promise<McpToolResult>;
  /**
   * Returns the client with which users authorize calls of a server: the one that is configured, else the one that is
   * registered for the same authorization server, redirect URI and scope, else one that is registered now. `registered`
   * is null for the first. Throws like `discover`.
   */
  createOAuthClient(
    server: McpServer,
    known: KnownClients,
    signal: AbortSignal,
  ): Promise<{ client: OAuthClient; registered: RegisteredClient | null }>;
}
