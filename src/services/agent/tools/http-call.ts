import type { Context } from '../../../core/context.ts';
import { timedOut } from '../../../core/errors.ts';
import { withTimeout } from '../../../core/with-timeout.ts';
import type { ToolRequest } from '../../toolkit/toolkit-driver.ts';
import { chainHeaders } from '../agent-chain.ts';
import type { ToolResult } from './agent-tool.ts';
import { bindRequest } from './bind-arguments.ts';
import { MAX_RESULT_BYTES } from './tool-result.ts';

const TIMEOUT_MS = 30_000;
/** Limit of the guarded client. Only a part is read: see `readBeginning`. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/** Sends the HTTP request of a custom tool. A response of any status is a result. */
export function callHttp(
  ctx: Context,
  request: ToolRequest,
  args: Record<string, unknown>,
  depth: number,
): Promise<ToolResult> {
  const { url, method, headers, body } = bindRequest(request, args);
  const late = () =>
    timedOut(`The host "${new URL(url).hostname}" did not respond within ${TIMEOUT_MS / 1000} seconds`);
  return withTimeout(TIMEOUT_MS, late, [ctx.request.signal], async (signal) => {
    const response = await ctx.platform.outbound.fetch(url, {
      method,
      headers: { ...headers, ...chainHeaders(ctx.platform, url, depth) },
      body,
      signal,
      maxBytes: MAX_RESPONSE_BYTES,
      followsRedirects: false,
      returnsAnyStatus: true,
    });
    const text = JSON.stringify({ status: response.status, body: await readBeginning(response) });
    return response.ok ? { text } : { text, error: `The host responded with ${response.status}` };
  });
}

/** Returns the beginning of a body as a text, and ends its transfer. */
async function readBeginning({ body }: Response): Promise<string> {
  if (!body) return '';
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
    parts.push(part);
    size += part.length;
    if (size > MAX_RESULT_BYTES) break;
  }
  return new TextDecoder().decode(Buffer.concat(parts));
}
