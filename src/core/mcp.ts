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

/** The result of a tool. */
export interface McpToolResult {
  /** Texts as they are, other content named by its type. */
  text: string;
  /** Whether the tool itself says that it failed. */
  isError: boolean;
}

/** The description of a server. */
export interface McpDescription {
  serverInfo: { name: string; version: string };
  tools: McpTool[];
  /** Which tools are left out, and why. */
  notes: string[];
}

/** Maximum number of notes of a discovery. */
const MAX_NOTES = 20;
/** Maximum number of characters of a name in a note. */
const MAX_QUOTED_NAME = 80;

/**
 * Adds the note that a tool is left out. `index` is its place in the list of the server. Past the limit, the last note
 * states that.
 */
export function addToolNote(notes: string[], tool: { name: unknown; index: number }, problem: string): void {
  const { name, index } = tool;
  const quoted = typeof name === 'string' && JSON.stringify(name.slice(0, MAX_QUOTED_NAME).toWellFormed());
  if (notes.length > MAX_NOTES) return;
  if (notes.length === MAX_NOTES) notes.push('More tools are left out');
  else notes.push(`The tool ${quoted || index + 1} is left out: ${problem}`);
}

/** The registration of this service at the authorization server of an MCP server. */
interface McpRegistration {
  clientId: string;
  clientSecret: string | null;
  /** Null for the scope that the server names. */
  scope: string | null;
}

/** A client that this service has registered for itself at an authorization server. */
export interface RegisteredClient {
  clientId: string;
  clientSecret: string | null;
  /** Where it is registered, and its purpose. */
  issuer: string;
  redirectUri: string;
  scope: string;
  /** End of the secret in milliseconds since the epoch; null if it has none. */
  expiresAt: number | null;
}

/** The client by which this service asks for tokens, where it has one. */
export interface KnownClients {
  /** The client that a user has named. */
  configured: McpRegistration | null;
  /** The client of the registration before. */
  registered: RegisteredClient | null;
  /** Returns the redirect URI of this service at an authorization server. */
  redirectUriOf: (issuer: string) => string;
}

/** The client of remote MCP servers. */
export interface McpClient {
  /**
   * Lists the tools of a server, at most `MAX_TOOLS`, within 30 seconds and 4 MB. Throws UNAVAILABLE if it does not
   * respond, BAD_USER_INPUT if calls to it are not allowed, and UPSTREAM_FAILED for other failures, naming the problem.
   * Tools that do not follow the protocol are left out. Names, descriptions and schemas have no limits of their own.
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
   * Returns the client by which users authorize calls of a server. It is the configured client, else the client that is
   * registered for the same authorization server, redirect URI and scope, else a client that is registered now.
   * `registered` is null for a configured client. Throws like `discover`.
   */
  createOAuthClient(
    server: McpServer,
    known: KnownClients,
    signal: AbortSignal,
  ): Promise<{ client: OAuthClient; registered: RegisteredClient | null }>;
}
