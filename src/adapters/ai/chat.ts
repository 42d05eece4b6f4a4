import type { AiCallTrace, ChatMessage, ChatRequest, ChatResponse, ChatToolCall } from '../../core/ai.ts';
import { callProvider, hostOf, malformed, postJson, type ProviderCall } from './provider-call.ts';
import { ProviderRefusal } from './provider-refusal.ts';

const MAX_RESPONSE_BYTES = 4_000_000;
const MAX_TOOL_CALLS = 128;
const MAX_ID_CHARACTERS = 200;
const MAX_TOKENS = 1_000_000_000;

/** Implements `AiClient.chat`. */
export function chat(from: Omit<ProviderCall, 'prompts'>, request: ChatRequest): Promise<ChatResponse> {
  const prompts = request.messages.flatMap(textsOf);
  return callProvider({ ...from, prompts }, async (call) => {
    const response = await complete(call, request);
    call.trace.tokens = statedTokens(response);
    return readResponse(response, call.trace, hostOf(call.endpoint));
  });
}

/** Asks for a completion. Models that refuse `max_tokens` want the same number under its newer name. */
async function complete(call: ProviderCall, request: ChatRequest): Promise<Record<string, unknown>> {
  const { model, messages, tools, maxTokens } = request;
  const body = {
    model,
    messages: messages.map(toMessage),
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
  };
  const post = (limit: object) => postJson(call, '/chat/completions', { ...body, ...limit }, MAX_RESPONSE_BYTES);
  try {
    return await post({ max_tokens: maxTokens });
  } catch (error) {
    if (!(error instanceof ProviderRefusal && error.reason.includes('max_completion_tokens'))) throw error;
    return post({ max_completion_tokens: maxTokens });
  }
}

function toMessage(message: ChatMessage): object {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
  if (message.role !== 'assistant') return message;
  const calls = message.toolCalls.map(({ id, name, arguments: text }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  }));
  return { role: 'assistant', content: message.content, ...(calls.length > 0 && { tool_calls: calls }) };
}

/** Returns the texts of a message, which no error may quote. */
function textsOf(message: ChatMessage): string[] {
  const calls = message.role === 'assistant' ? message.toolCalls.map((call) => call.arguments) : [];
  return [message.content ?? '', ...calls];
}

function readResponse({ choices }: Record<string, unknown>, { tokens }: AiCallTrace, host: string): ChatResponse {
  const choice = Array.isArray(choices) ? (choices[0] as { message?: unknown } | null | undefined) : undefined;
  const message = choice?.message as { content?: unknown; tool_calls?: unknown } | null | undefined;
  if (typeof message !== 'object' || message === null) throw malformed(host, 'it has no message');
  const content = message.content ?? null;
  if (content !== null && typeof content !== 'string') throw malformed(host, 'the content of its message is no text');
  const toolCalls = readToolCalls(message.tool_calls ?? [], host);
  // The provider counts the tokens that are charged, so a response without valid numbers is an error.
  if (!tokens) throw malformed(host, 'usage.prompt_tokens or usage.completion_tokens is not a number of tokens');
  return { content, toolCalls, ...tokens };
}

function readToolCalls(calls: unknown, host: string): ChatToolCall[] {
  if (!Array.isArray(calls) || calls.length > MAX_TOOL_CALLS)
    throw malformed(host, `its calls of tools are not a list of at most ${MAX_TOOL_CALLS}`);
  return calls.map((call: unknown) => {
    const { id, function: called } = (call ?? {}) as {
      id?: unknown;
      function?: { name?: unknown; arguments?: unknown };
    };
    const { name, arguments: text } = called ?? {};
    const isValid = isShort(id) && isShort(name) && typeof text === 'string';
    if (!isValid) throw malformed(host, 'a call of a tool lacks its id, name or arguments');
    return { id, name, arguments: text };
  });
}

const isShort = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_ID_CHARACTERS;

/** Returns the tokens that a response states, whatever else is wrong with it. Null without two valid numbers. */
function statedTokens({ usage }: Record<string, unknown>): AiCallTrace['tokens'] {
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = (usage ?? {}) as Record<string, unknown>;
  return isTokens(inputTokens) && isTokens(outputTokens) ? { inputTokens, outputTokens } : null;
}

const isTokens = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= MAX_TOKENS;
