import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describeServer, introduce } from '../../adapters/mcp/describe-server.ts';
import { readServerMessages } from '../../adapters/mcp/server-messages.ts';
import type { McpDescription } from '../../core/mcp.ts';
import { VERSION } from '../package-root.ts';

/** Time for each response of a server. The first command of a package downloads it. */
const RESPONSE_TIMEOUT_MS = 120_000;
/** Maximum size of one message of a server. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** How an MCP server is started. */
export interface ServerCommand {
  command: string;
  args: string[];
  /** Variables besides HOME, PATH and the like. */
  env: Readonly<Record<string, string>>;
}

/**
 * Starts an MCP server in a child process of this one, and returns its description with the tools. The process has
 * ended when this returns. Its messages go to standard error. Only the command line may use this: the service starts no
 * process for a toolkit (.dependency-cruiser.cjs).
 */
export async function describeProcess({ command, args, env }: ServerCommand): Promise<McpDescription> {
  console.error(`Starting ${[command, ...args].map(quote).join(' ')}`);
  const client = new Client(introduce(VERSION), { versionNegotiation: { mode: 'auto' } });
  const transport = new StdioClientTransport({
    command,
    args,
    env: { ...env },
    stderr: 'inherit',
    maxBufferSize: MAX_MESSAGE_BYTES,
  });
  const timeout = { timeout: RESPONSE_TIMEOUT_MS };
  const notes = readServerMessages(transport);
  try {
    await client.connect(transport, timeout);
    return await describeServer(client, command, notes, timeout);
  } catch (error) {
    throw new Error(`The MCP server did not send its tools: ${(error as Error).message}`, { cause: error });
  } finally {
    await transport.close();
  }
}

/** Returns an argument as it is typed in a shell. */
const quote = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
