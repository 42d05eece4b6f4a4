/** Completions of the fake, and what it refuses in a conversation, as the services do. */
import { isDeepStrictEqual } from 'node:util';

/** A message of the protocol. */
export interface FakeMessage {
  role: string;
  content?: string | null;
  tool_calls?: { id: string; type?: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
  [key: string]: unknown;
}

/** A call of a tool by the model. */
interface FakeToolCall {
  name: string;
  /** A text is sent as it is. */
  arguments: unknown;
  /** Default: an id of the fake's. */
  id?: unknown;
  /** Whether arguments other than texts are sent as they are. */
  isRaw?: boolean;
  /** Further keys, which must come back. */
  keys?: Record<string, unknown>;
}

/** A reply of the model: a text, calls of tools, or both. Tokens are counted if they are not given. */
export interface FakeReply {
  /** A text or parts. */
  content?: unknown;
  toolCalls?: FakeToolCall[];
  /** Default: `tool_calls` or `stop`. */
  finishReason?: string | null;
  /** Further keys of the message. Those that are not null must come back with its calls of tools. */
  keys?: Record<string, unknown>;
  /** Further keys of the choice. */
  choice?: Record<string, unknown>;
  /** Null in place of the tokens. */
  usage?: null;
  /** Keys that the response lacks. */
  omits?: readonly ('content' | 'usage' | 'id')[];
  inputTokens?: unknown;
  outputTokens?: unknown;
}

/** The keys that must come back with calls of tools, by their ids. */
export type IssuedKeys = Map<string, { message: Record<string, unknown>; call: Record<string, unknown> }>;

/** About four characters a token. */
const countTokens = (value: unknown): number => Math.ceil((JSON.stringify(value) ?? '').length / 4);

/** Returns a completion and records the keys that must come back. `number` is the number of the call. */
export function createCompletion(reply: FakeReply, messages: unknown, number: number, issued: IssuedKeys): object {
  const { content = null, toolCalls, keys = {}, omits = [], finishReason, choice, usage } = reply;
  const calls = toolCalls?.map((call, index) => {
    const { name, arguments: given, id = `call_${number}_${index}`, isRaw = false, keys: ofCall = {} } = call;
    if (typeof id === 'string') issued.set(id, { message: keys, call: ofCall });
    const text = isRaw || typeof given === 'string' ? given : JSON.stringify(given);
    return { ...(!omits.includes('id') && { id }), type: 'function', function: { name, arguments: text }, ...ofCall };
  });
  const { inputTokens = countTokens(messages), outputTokens = countTokens(content) + 10 } = reply;
  return {
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          ...(!omits.includes('content') && { content }),
          ...keys,
          ...(calls && { tool_calls: calls }),
        },
        finish_reason: finishReason === undefined ? (calls ? 'tool_calls' : 'stop') : finishReason,
        ...choice,
      },
    ],
    ...(!omits.includes('usage') && {
      usage: usage === undefined ? { prompt_tokens: inputTokens, completion_tokens: outputTokens } : usage,
    }),
  };
}

/**
 * Returns the error body for a conversation that the services refuse; null for one that they accept. OpenAI
 * (platform.openai.com/docs/api-reference/chat/create), Gemini and DeepSeek use the same words.
 */
export function findConversationProblem(messages: FakeMessage[], issued: IssuedKeys): object | null {
  let open = new Set<string>();
  for (const [at, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id ?? ''))
        return refusalOf("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.");
      continue;
    }
    if (open.size > 0) return unanswered(open);
    if (message.role !== 'assistant') continue;
    const problem = findAssistantProblem(message, at, issued);
    if (problem) return problem;
    open = new Set(message.tool_calls?.map(({ id }) => id));
  }
  return open.size > 0 ? unanswered(open) : null;
}

const refusalOf = (message: string): object => ({ error: { message, type: 'invalid_request_error', code: null } });

const unanswered = (ids: ReadonlySet<string>): object =>
  refusalOf(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
      `The following tool_call_ids did not have response messages: ${[...ids].join(', ')}`,
  );

function findAssistantProblem(message: FakeMessage, at: number, issued: IssuedKeys): object | null {
  const { content, tool_calls: calls } = message;
  if (!calls?.length && typeof content !== 'string' && !Array.isArray(content))
    return refusalOf(`Invalid value for 'messages[${at}].content': expected a string, got null.`);
  for (const [index, call] of (calls ?? []).entries()) {
    const path = `messages[${at}].tool_calls[${index}]`;
    if (typeof call.id !== 'string' || call.id === '') return refusalOf(`Invalid '${path}.id': empty string.`);
    if (call.type !== 'function') return refusalOf(`Missing required parameter: '${path}.type'.`);
    if (typeof call.function.arguments !== 'string')
      return refusalOf(`Invalid type for '${path}.function.arguments': expected a string, but got an object instead.`);
    const lost = findLostKey(message, call, at, issued);
    if (lost) return lost;
  }
  return null;
}

/**
 * Gemini requires signatures of calls (ai.google.dev/gemini-api/docs/thought-signatures: a missing one is 400, only the first
 * of parallel calls has one; its error is a list), DeepSeek the reasoning of messages with calls
 * (api-docs.deepseek.com/guides/thinking_mode).
 */
function findLostKey(message: FakeMessage, call: { id: string }, at: number, issued: IssuedKeys): object | null {
  const expected = issued.get(call.id);
  const lostIn = (sent: object, keys: Record<string, unknown> = {}) =>
    Object.entries(keys).find(
      ([key, value]) => value !== null && !isDeepStrictEqual((sent as Record<string, unknown>)[key], value),
    )?.[0];
  const ofCall = lostIn(call, expected?.call);
  if (ofCall === 'extra_content') {
    const words = `Function call is missing a thought_signature in functionCall parts, position ${at}.`;
    return [{ error: { code: 400, message: words, status: 'INVALID_ARGUMENT' } }];
  }
  const key = ofCall ?? lostIn(message, expected?.message);
  return key === undefined ? null : refusalOf(`The \`${key}\` in the thinking mode must be passed back to the API.`);
}
