import type { AssistantMessage, ChatResponse, ChatToolCall } from '../../core/ai.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { isDeeperThan, MAX_JSON_DEPTH } from '../../core/json-depth.ts';
import { hostOf, malformed, type ProviderCall } from './provider-call.ts';
import { quoteProvider, wordsOf } from './provider-refusal.ts';

const MAX_TOOL_CALLS = 128;
const MAX_NAME_CHARACTERS = 200;
/**
 * Maximum size of the keys that a provider adds to a message, e.g. reasoning. They go back with each further request of
 * a run.
 */
const MAX_FURTHER_BYTES = 512 * 1024;
/** Mistral takes ids of nine letters and digits only. */
const ID_CHARACTERS = 9;

type Json = Record<string, unknown>;

/**
 * Reads the message of a completion. Its content may be a text or parts, and its calls of tools may lack what a request
 * requires. Throws UPSTREAM_FAILED for a message with neither a text nor calls of tools, with the reason.
 */
export function readMessage(
  body: Json,
  call: ProviderCall,
  maxTokens: number,
): Pick<ChatResponse, 'content' | 'toolCalls' | 'message' | 'problems'> {
  const host = hostOf(call.endpoint);
  const choice = Array.isArray(body['choices']) ? toObject(body['choices'][0]) : {};
  const received = choice['message'];
  if (typeof received !== 'object' || received === null) throw malformed(host, 'it has no message');
  if (isDeeperThan(received, MAX_JSON_DEPTH)) throw malformed(host, 'its message nests too deeply');
  const { text, refusal } = readContent(received as Json, host);
  const calls = readToolCalls((received as Json)['tool_calls'] ?? [], host);
  const toolCalls = calls.map(toToolCall);
  const message: AssistantMessage = {
    ...received,
    role: 'assistant',
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  if (bytesOf(message) - bytesOf(withoutFurtherKeys(message)) > MAX_FURTHER_BYTES)
    throw malformed(host, `its message has more than ${MAX_FURTHER_BYTES} bytes besides text and calls of tools`);
  const problems = findProblems(choice, refusal, call, maxTokens);
  if (text === null && calls.length === 0)
    throw upstreamFailed(`The host "${host}" returned no text: ${problems.join('; ') || nothingIn(choice, call)}`);
  return { content: text, toolCalls, message, problems };
}

const toObject = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Returns the text of a message and the refusal that it states; null for none. Other parts are not for users. */
function readContent({ content = null, refusal }: Json, host: string): { text: string | null; refusal: string | null } {
  if (content !== null && typeof content !== 'string' && !Array.isArray(content))
    throw malformed(host, 'the content of its message is not a text');
  const parts = (Array.isArray(content) ? content : [content]).map((part: unknown) =>
    typeof part === 'string' ? { text: part } : toObject(part),
  );
  const join = (key: 'text' | 'refusal') =>
    parts.flatMap(({ [key]: part }) => (typeof part === 'string' ? [part] : [])).join('');
  const text = join('text');
  const refused = typeof refusal === 'string' && refusal !== '' ? refusal : join('refusal');
  return { text: text.trim() === '' ? null : text, refusal: refused === '' ? null : refused };
}

/** Returns the calls of a message as a request requires them: with an id, a type and arguments as text. */
function readToolCalls(calls: unknown, host: string): Json[] {
  if (!Array.isArray(calls) || calls.length > MAX_TOOL_CALLS)
    throw malformed(host, `its calls of tools are not a list of at most ${MAX_TOOL_CALLS}`);
  return calls.map((call: unknown) => {
    const { id, function: called, ...more } = toObject(call);
    const { name, arguments: given, ...further } = toObject(called);
    if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_CHARACTERS)
      throw malformed(host, `a call of a tool has no name of at most ${MAX_NAME_CHARACTERS} characters`);
    return {
      type: 'function',
      ...more,
      id: typeof id === 'string' && id !== '' ? id : newId().slice(-ID_CHARACTERS),
      function: { ...further, name, arguments: toArguments(given) },
    };
  });
}

const toArguments = (given: unknown): string => {
  const text = typeof given === 'string' ? given : JSON.stringify(given ?? {});
  return text.trim() === '' ? '{}' : text;
};

function toToolCall({ id, function: called }: Json): ChatToolCall {
  const { name, arguments: text } = called as { name: string; arguments: string };
  return { id: id as string, name, arguments: text };
}

/**
 * Returns why a response is not complete, in phrases. `finish_reason` is `length` or `content_filter` in the reference
 * of OpenAI, `insufficient_system_resource` in DeepSeek's, and `error` in OpenRouter's.
 */
function findProblems(choice: Json, refusal: string | null, call: ProviderCall, maxTokens: number): string[] {
  const reason = String(choice['finish_reason'] ?? '').toLowerCase();
  const problems: string[] = [];
  if (refusal !== null) problems.push(`the model refused: ${quoteProvider(refusal, call)}`);
  if (/filter|safety|prohibited|recitation/.test(reason)) problems.push('a content filter ended it');
  if (reason === 'length' || reason === 'max_tokens') problems.push(`it was cut at the limit of ${maxTokens} tokens`);
  if (choice['error'] || reason === 'error' || reason === 'insufficient_system_resource')
    problems.push(['the provider ended it early', quoteProvider(wordsOf(choice), call)].filter(Boolean).join(': '));
  return problems;
}

/** Returns the content that a message has in place of a text. */
function nothingIn(choice: Json, call: ProviderCall): string {
  if (toObject(choice['message'])['function_call'])
    return 'the model called a function in the old form function_call, which lacks an id';
  const reason = choice['finish_reason'];
  const isKnown = typeof reason !== 'string' || reason === 'stop';
  return `the message is empty${isKnown ? '' : ` (finish_reason ${quoteProvider(reason, call)})`}`;
}

/** Keys of messages, of calls of tools and of functions that every provider takes. */
const KNOWN: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls']);
const KNOWN_OF_CALL: ReadonlySet<string> = new Set(['id', 'type', 'function']);
const KNOWN_OF_FUNCTION: ReadonlySet<string> = new Set(['name', 'arguments']);

/** Returns a message of a model without the keys that are not part of the protocol. */
export function withoutFurtherKeys(message: AssistantMessage): AssistantMessage {
  const calls = message['tool_calls'];
  return {
    ...pick(message, KNOWN),
    role: 'assistant',
    ...(Array.isArray(calls) && { tool_calls: calls.map(withoutKeysOfCall) }),
  };
}

/** Returns the names of the keys that `withoutFurtherKeys` removes. */
export function furtherKeys(message: AssistantMessage): string[] {
  const calls = (message['tool_calls'] ?? []) as Json[];
  const others = (value: Json, known: ReadonlySet<string>) => Object.keys(value).filter((key) => !known.has(key));
  const ofCalls = calls.flatMap((call) => [
    ...others(call, KNOWN_OF_CALL),
    ...others(toObject(call['function']), KNOWN_OF_FUNCTION),
  ]);
  return [...others(message, KNOWN), ...ofCalls];
}

const withoutKeysOfCall = (call: Json): Json => ({
  ...pick(call, KNOWN_OF_CALL),
  function: pick(toObject(call['function']), KNOWN_OF_FUNCTION),
});

const pick = (value: Json, keys: ReadonlySet<string>): Json =>
  Object.fromEntries(Object.entries(value).filter(([key]) => keys.has(key)));
