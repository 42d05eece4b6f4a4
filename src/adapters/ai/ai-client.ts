import type { AiClient } from '../../core/ai.ts';
import type { OutboundClient } from '../../core/outbound.ts';

/** Maximum time of a call, with the download of an image that the response refers to. */
const CALL_TIMEOUT_MS = 120_000;

/** Options of the client. Tests set `timeoutMs`. */
export interface AiClientOptions {
  outbound: OutboundClient;
  /** Default: 120 seconds. */
  timeoutMs?: number;
}

/** Opens the client of AI providers. Its modules are loaded with the first call. */
export function openAiClient({ outbound, timeoutMs = CALL_TIMEOUT_MS }: AiClientOptions): AiClient {
  const options = { outbound, timeoutMs };
  return {
    async createImage(endpoint, request, signal) {
      const { createImage } = await import('./create-image.ts');
      return createImage(options, endpoint, request, signal);
    },
    async chat(endpoint, request, signal) {
      const { chat } = await import('./chat.ts');
      return chat(options, endpoint, request, signal);
    },
  };
}
