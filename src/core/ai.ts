/** The output of a model of an AI provider: images, or texts and calls of tools. */
export const MODEL_KINDS = ['image', 'chat'] as const;
export type ModelKind = (typeof MODEL_KINDS)[number];

/** Tiers of models, in ascending order. Usage profiles allow some of them. */
export const MODEL_TIERS = ['everyday', 'advanced', 'strategic'] as const;
export type ModelTier = (typeof MODEL_TIERS)[number];

/** Actions with a quote. */
export const QUOTE_ACTIONS = ['image', 'agentRun'] as const;
export type QuoteAction = (typeof QUOTE_ACTIONS)[number];

/** How a call of an AI provider ends. */
export const AI_CALL_STATUSES = ['succeeded', 'failed', 'cancelled'] as const;
export type AiCallStatus = (typeof AI_CALL_STATUSES)[number];

/** A model of an AI provider, as users describe it. Prices are exact decimals in US dollars. */
export interface AiModel {
  /** Name by which the provider knows it. */
  id: string;
  kind: ModelKind;
  tier: ModelTier;
  /** Sizes of images, the default first. Empty for chat, and for a model that has one size. */
  sizes: string[];
  /** Price of an image; null for chat. */
  price: string | null;
  /** Price of a million tokens of prompts; null for images. */
  inputPrice: string | null;
  /** Price of a million tokens of responses; null for images. */
  outputPrice: string | null;
}

/** Where an AI provider is called, with its secret. */
export interface AiEndpoint {
  /** Base of the URLs of the OpenAI-compatible API, e.g. `https://api.example.com/v1`. */
  baseUrl: string;
  /** Null if the provider needs none. */
  apiKey: string | null;
}

export interface ImageRequest {
  model: string;
  prompt: string;
  /** E.g. `1024x1024`. Null for a model without sizes. */
  size: string | null;
}

/** A tool that a chat model may call. */
export interface ChatTool {
  /** Letters, digits, `_` and `-`, at most 64. */
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
}

/** A call of a tool that a chat model asks for. Its arguments are unchecked text. */
export interface ChatToolCall {
  id: string;
  name: string;
  arguments: string;
}

/**
 * A message of a model as the provider sent it, with all its keys: some providers refuse a conversation that lacks them. Its
 * calls of tools are complete.
 */
export type AssistantMessage = { readonly role: 'assistant'; readonly [key: string]: unknown };

export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | AssistantMessage
  | { role: 'tool'; toolCallId: string; content: string };

export interface ChatRequest {
  model: string;
  messages: readonly ChatMessage[];
  tools: readonly ChatTool[];
  /** Maximum number of tokens of the response. */
  maxTokens: number;
}

/** A response has a text, calls of tools, or both. */
export interface ChatResponse {
  /** Null without a text. */
  content: string | null;
  toolCalls: ChatToolCall[];
  /** The message for the next request. */
  message: AssistantMessage;
  /** Why the response is not complete, in phrases. */
  problems: string[];
  /** Tokens as the provider counts them, or estimated. */
  inputTokens: number;
  outputTokens: number;
  /** Whether the provider stated no tokens. */
  isEstimated: boolean;
}

/**
 * How far a call came. The client keeps it up to date, so that it is known for failed calls, too. It decides the
 * charge.
 */
export interface AiCallTrace {
  /**
   * `sent` from when the request leaves; `refused` once the provider has responded with a status of 300 and above, or
   * with an error and no tokens in place of a result. Such a status means that the provider did not fulfil the request
   * (RFC 9110, 15.4 to 15.6).
   */
  state: 'unsent' | 'sent' | 'refused';
  /**
   * Tokens that the provider has stated, even in a response that cannot be used; estimated for a usable response
   * without them.
   */
  tokens: { inputTokens: number; outputTokens: number } | null;
}

/** Returns the trace of a call that has not begun. */
export const newCallTrace = (): AiCallTrace => ({ state: 'unsent', tokens: null });

/**
 * The client of AI providers. It calls them through the guarded client, each call within 120 seconds, and again up to four
 * times after 429, 502 to 504 and 529. Throws BAD_USER_INPUT with the provider's words if it refuses the request (400),
 * UNAVAILABLE if it does not respond or stays busy, else UPSTREAM_FAILED. No error contains the key or the prompt.
 */
export interface AiClient {
  /** Returns the bytes of an image, unchecked, at most 20 MB. */
  createImage(
    endpoint: AiEndpoint,
    request: ImageRequest,
    signal: AbortSignal,
    trace: AiCallTrace,
    beforeSend?: BeforeSend,
  ): Promise<Buffer>;
  /** Returns a text or calls of tools. Throws UPSTREAM_FAILED for a refusal, a filtered response and an empty one. */
  chat(
    endpoint: AiEndpoint,
    request: ChatRequest,
    signal: AbortSignal,
    trace: AiCallTrace,
    beforeSend?: BeforeSend,
  ): Promise<ChatResponse>;
}

/**
 * Records that a call is about to be sent. Awaited once, when there is a connection, right before the first byte leaves. If it
 * rejects, nothing is sent and the call rejects with its error. A call that rejects has waited for it.
 */
export type BeforeSend = () => Promise<void>;
