/**
 * Responses of OpenAI-compatible services other than texts and calls of tools, each with its reference:
 *
 *   curl -d '{"mode": "refusal"}' 127.0.0.1:4020/_control/mode
 */
import type { FakeReply } from './fake-chat.ts';
import type { FakeBehavior } from './fake-provider.ts';

/** A reply of the model, or what happens to the call in place of one. */
export interface FakeMode {
  reply?: FakeReply;
  behavior?: FakeBehavior;
}

const call = (more: object = {}) => ({ name: 'ping', arguments: {}, ...more });
const SIGNATURE = { extra_content: { google: { thought_signature: 'c2lnbmF0dXJlIG9mIHRoZSBmaXJzdCBjYWxs' } } };

/** The modes by name. The model calls the tool `ping`. */
export const MODES = {
  // OpenAI, "The chat completion object": `finish_reason` and `message.refusal`.
  refusal: { reply: { keys: { refusal: 'I cannot help with that' } } },
  'refusal with text': { reply: { content: 'In part.', keys: { refusal: 'I cannot help with the rest' } } },
  'refusal in parts': { reply: { content: [{ type: 'refusal', refusal: 'I cannot help with that' }] } },
  'content filter': { reply: { finishReason: 'content_filter' } },
  'content filter with text': { reply: { content: 'In part.', finishReason: 'content_filter' } },
  length: { reply: { content: 'It begins', finishReason: 'length' } },
  'length without text': { reply: { content: '', finishReason: 'length' } },
  'length in a call': { reply: { toolCalls: [call({ arguments: '{"id": "1' })], finishReason: 'length' } },
  'no content': { reply: { omits: ['content'] } },
  'blank content': { reply: { content: ' \n' } },
  // OpenAI, "Create chat completion": `function_call` is deprecated in favor of `tool_calls`.
  'function call': {
    reply: { keys: { function_call: { name: 'ping', arguments: '{}' } }, finishReason: 'function_call' },
  },
  // DeepSeek, "Create Chat Completion": the request is interrupted for a lack of resources.
  interrupted: { reply: { content: '', finishReason: 'insufficient_system_resource' } },
  // OpenRouter, "Errors" (openrouter.ai/docs/errors): what fails while the model responds has status 200.
  'error of a choice': {
    reply: { content: '', finishReason: 'error', choice: { error: { code: 502, message: 'Upstream lost' } } },
  },
  'error in a 200': { behavior: { body: { error: { code: 429, message: 'Upstream rate limit' } } } },
  // OpenAI, "The chat completion object": `usage` is optional.
  'no usage': { reply: { content: 'Done', omits: ['usage'] } },
  'null usage': { reply: { content: 'Done', usage: null } },
  // openai/openai-dotnet#428 (Gemini), ggml-org/llama.cpp#11992, mistralai/client-js#69.
  'empty id': { reply: { toolCalls: [call({ id: '' })] } },
  'no id': { reply: { toolCalls: [call()], omits: ['id'] } },
  'null id': { reply: { toolCalls: [call({ id: null })] } },
  // langchain-ai/langchain#34242, vercel/ai#6687, ollama's own API.
  'null arguments': { reply: { toolCalls: [call({ arguments: null, isRaw: true })] } },
  'blank arguments': { reply: { toolCalls: [call({ arguments: '' })] } },
  'object as arguments': { reply: { toolCalls: [call({ arguments: { id: '7' }, isRaw: true })] } },
  // Mistral, "Reasoning" (vercel/ai#17779): parts for thinking and text.
  'content in parts': {
    reply: {
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Let me see' }] },
        { type: 'text', text: 'Do' },
        { type: 'text', text: 'ne' },
      ],
    },
  },
  // Gemini, "Thought Signatures": only the first of parallel calls has one.
  'signed call': { reply: { toolCalls: [call({ keys: SIGNATURE }), call()] } },
  // DeepSeek, "Thinking Mode": also an empty one must come back.
  reasoning: { reply: { toolCalls: [call()], keys: { reasoning_content: 'I need the tool' } } },
  'empty reasoning': { reply: { toolCalls: [call()], keys: { reasoning_content: '' } } },
  'unknown keys': {
    reply: { toolCalls: [call({ keys: { x_call: [1] } })], keys: { x_state: { a: 'b' }, refusal: null } },
  },
  // OpenAI, "Error codes", and RFC 9110, 10.2.3.
  'rate limit': { behavior: { status: 429, headers: { 'retry-after': '0' }, message: 'Rate limit reached' } },
  'overloaded, as HTML': { behavior: { status: 503, text: '<html>overloaded</html>' } },
  'bad gateway': { behavior: { status: 502, headers: { 'retry-after': '0' } } },
  // Anthropic, "Errors": `overloaded_error`.
  overloaded: { behavior: { status: 529, headers: { 'retry-after': '0' } } },
} satisfies Record<string, FakeMode>;

export type ModeName = keyof typeof MODES;
