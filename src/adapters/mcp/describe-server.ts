import type { Client } from '@modelcontextprotocol/client';
import { upstreamFailed, type ApiError } from '../../core/errors.ts';
import { MAX_TOOLS, type McpDescription, type McpTool } from '../../core/mcp.ts';

/** Returns how this service introduces itself to servers. */
export const introduce = (version: string) => ({ name: 'data-workspace-service', version });

/** A server with more tools than a toolkit has. */
export const tooManyTools = (host: string): ApiError =>
  upstreamFailed(`The MCP server "${host}" has more than ${MAX_TOOLS} tools`);

const MAX_SERVER_INFO_CHARACTERS = 255;

/**
 * Returns name, version and tools of a connected server. `notes` come from `readServerMessages`. Throws UPSTREAM_FAILED
 * past the limits.
 */
export async function describeServer(
  client: Client,
  host: string,
  notes: string[],
  options: { timeout: number },
): Promise<McpDescription> {
  const { name = host, version = '' } = client.getServerVersion() ?? {};
  const tools = client.getServerCapabilities()?.tools ? await listTools(client, host, options) : [];
  return { serverInfo: { name: shorten(name), version: shorten(version) }, tools, notes };
}

async function listTools(client: Client, host: string, options: { timeout: number }): Promise<McpTool[]> {
  const tools: McpTool[] = [];
  const cursors = new Set<string>();
  for (let cursor: string | undefined; ;) {
    const page = await client.request({ method: 'tools/list', params: cursor ? { cursor } : {} }, options);
    for (const { name, description, inputSchema } of page.tools)
      tools.push({ name, description: description || null, inputSchema });
    if (tools.length > MAX_TOOLS) throw tooManyTools(host);
    cursor = page.nextCursor;
    if (!cursor) return tools;
    if (cursors.has(cursor)) throw upstreamFailed(`The MCP server "${host}" repeats a page of its tools`);
    cursors.add(cursor);
  }
}

/** Returns a name or version that the database accepts, in one line. */
const shorten = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_SERVER_INFO_CHARACTERS)
    .toWellFormed();
