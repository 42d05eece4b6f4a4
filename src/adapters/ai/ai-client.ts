import type { AiClient, ModelKind } from '../../core/ai.ts';
import type { OutboundClient } from '../../core/outbound.ts';
import { traced, type SpanStart } from '../../core/tracing.ts';

/** Maximum time of a call, including the download of an image that the response refers to. */
const CALL_TIMEOUT_MS = 120_000;

const nothing = async () => {};

/** Options of the client. Tests set `timeoutMs`. */
export interface AiClientOptions {
  outbound: OutboundClient;
  /** Default: 120 seconds. */
  timeoutMs?: number;
}

/** Opens the client of AI providers, with a span for each call. Its modules are loaded with the first call. */
export function openAiClient({ outbound, timeoutMs = CALL_TIMEOUT_MS }: AiClientOptions): AiClient {
  const options = { outbound, timeoutMs };
  return {
    createImage: (endpoint, request, signal, trace, beforeSend = nothing) =>
      traced(spanOf('image', request), async () => {
        const { createImage } = await import('./create-image.ts');
        return createImage({ ...options, endpoint, signal, trace, beforeSend }, request);
      }),
    chat: (endpoint, request, signal, trace, beforeSend = nothing) =>
      traced(spanOf('chat', request), async (span) => {
        const { chat } = await import('./chat.ts');
        const response = await chat({ ...options, endpoint, signal, trace, beforeSend }, request);
        span.set({
          'gen_ai.usage.input_tokens': response.inputTokens,
          'gen_ai.usage.output_tokens': response.outputTokens,
        });
        return response;
      }),
  };
}

/** Returns the span of a call. It contains no prompt. */
const spanOf = (kind: ModelKind, { model }: { model: string }): SpanStart => ({
  name: `ai ${kind}`,
  kind: 'client',
  attributes: { 'gen_ai.request.model': model },
});
