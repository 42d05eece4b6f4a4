import type { AssistantMessage, ChatMessage, ChatRequest, ChatResponse } from '../../core/ai.ts';
import { furtherKeys, readMessage, withoutFurtherKeys } from './chat-message.ts';
import { callProvider, postJson, type ProviderCall } from './provider-call.ts';
import { ProviderRefusal } from './provider-refusal.ts';

const MAX_RESPONSE_BYTES = 4_000_000;
/** Bytes of a token, on average. */
const TOKEN_BYTES = 4;

/** The form of a request. Providers refuse different parts of it. */
interface RequestForm {
  limit: 'max_tokens' | 'max_completion_tokens';
  /** Whether the messages of the model go back with all their keys. */
  hasFurtherKeys: boolean;
}

/** Implements `AiClient.chat`. */
export function chat(from: Omit<ProviderCall, 'prompts'>, request: ChatRequest): Promise<ChatResponse> {
  const prompts = request.messages.flatMap(textsOf);
  return callProvider({ ...from, prompts }, async (call) => {
    const body = await complete(call, request);
    const read = readMessage(body, call, request.maxTokens);
    const stated = call.trace.tokens;
    const tokens = stated ?? estimateTokens(request, read.message);
    call.trace.tokens = tokens;
    return { ...read, ...tokens, isEstimated: stated === null };
  });
}

/** Asks for a completion, in another form if the provider refuses the first one. */
async function complete(call: ProviderCall, request: ChatRequest): Promise<Record<string, unknown>> {
  const { model, messages, tools, maxTokens } = request;
  let form: RequestForm = { limit: 'max_tokens', hasFurtherKeys: true };
  for (;;) {
    const { limit, hasFurtherKeys } = form;
    const body = {
      model,
      messages: messages.map((message) => toMessage(message, hasFurtherKeys)),
      ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
      [limit]: maxTokens,
    };
    try {
      return await postJson(call, '/chat/completions', body, MAX_RESPONSE_BYTES);
    } catch (error) {
      const next = error instanceof ProviderRefusal ? otherForm(error, form, messages) : null;
      if (!next) throw error;
      form = next;
    }
  }
}

/**
 * Returns the form that a provider requires instead; null for none. Newer models have another name for the limit of
 * tokens, and some refuse keys of their own messages (Groq: "property 'reasoning_content' is unsupported").
 */
function otherForm(
  { httpStatus, reason }: ProviderRefusal,
  form: RequestForm,
  messages: readonly ChatMessage[],
): RequestForm | null {
  if (form.limit === 'max_tokens' && reason.includes('max_completion_tokens'))
    return { ...form, limit: 'max_completion_tokens' };
  const isKeyRefused = () =>
    messages.some((message) => isAssistant(message) && furtherKeys(message).some((key) => reason.includes(key)));
  const mayRefuseKeys = form.hasFurtherKeys && (httpStatus === 400 || httpStatus === 422);
  return mayRefuseKeys && isKeyRefused() ? { ...form, hasFurtherKeys: false } : null;
}

const isAssistant = (message: ChatMessage): message is AssistantMessage => message.role === 'assistant';

function toMessage(message: ChatMessage, hasFurtherKeys: boolean): object {
  if (isAssistant(message)) return hasFurtherKeys ? message : withoutFurtherKeys(message);
  if (message.role !== 'tool') return message;
  return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
}

/** Keys whose texts are words of the protocol, or names of tools. */
const WORDS: ReadonlySet<string> = new Set(['role', 'type', 'name']);

/** Returns the texts of a message, which no error may quote, e.g. arguments and signatures. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return Object.entries(value).flatMap(([key, inner]) => (WORDS.has(key) ? [] : textsOf(inner)));
}

function estimateTokens({ messages, tools }: ChatRequest, response: AssistantMessage) {
  const count = (value: unknown) => Math.ceil(Buffer.byteLength(JSON.stringify(value)) / TOKEN_BYTES);
  return { inputTokens: count({ messages, tools }), outputTokens: count(response) };
}
