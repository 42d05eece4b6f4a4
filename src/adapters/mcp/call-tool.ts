import type { McpServer, McpToolResult } from '../../core/mcp.ts';
import type { ExchangeOptions } from './mcp-exchange.ts';
import { withServer } from './server-connection.ts';

/** Calls a tool of a remote MCP server as `McpClient.callTool` does. */
export const callTool = (
  options: ExchangeOptions,
  server: McpServer,
  call: { name: string; arguments: Record<string, unknown> },
  caller: AbortSignal,
): Promise<McpToolResult> =>
  withServer(options, server, caller, 'the result of the tool', async ({ client, options: request, mask }) => {
    // Not `client.callTool`, which checks results against schemas of the server.
    const result = await client.request({ method: 'tools/call', params: call }, request);
    const { content = [], structuredContent, isError } = result as RawResult;
    const parts = content.map(textOf);
    const hasText = content.some(({ type }) => type === 'text');
    if (structuredContent !== undefined && !hasText) parts.push(JSON.stringify(structuredContent));
    return { text: mask(parts.join('\n')), isError: isError === true };
  });

interface RawContent {
  type: string;
  text?: string;
  mimeType?: string;
  uri?: string;
  resource?: { uri?: string; text?: string };
}

interface RawResult {
  content?: RawContent[];
  structuredContent?: unknown;
  isError?: boolean;
}

/** Returns the text of a part of a result. Pictures, sounds and files are only named: models read texts. */
function textOf({ type, text, mimeType, uri, resource }: RawContent): string {
  if (type === 'text') return text ?? '';
  if (resource?.text !== undefined) return resource.text;
  return `[${[type, mimeType, uri ?? resource?.uri].filter(Boolean).join(' ')}]`;
}
