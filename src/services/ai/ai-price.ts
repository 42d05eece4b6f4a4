import type { AiModel, ChatRequest } from '../../core/ai.ts';
import { formatDecimalUnits, parseDecimalUnits } from '../../core/decimal.ts';
import { creditsOf } from '../../core/usage.ts';

/** Decimals of dollars, as many as quantities in the usage ledger have. */
const DOLLAR_DECIMALS = 9;
/** Number of tokens that the price of a chat model is for. */
const TOKENS_OF_PRICE = 1_000_000n;
/** Upper bounds of the tokens that a provider adds to a request, and to each of its messages. */
const REQUEST_TOKENS = 64;
const MESSAGE_TOKENS = 16;

/** The price of a call. */
export interface AiPrice {
  /** A decimal with up to 9 places: the quantity of the usage ledger. */
  dollars: string;
  /** The same in credits, as the ledger rounds them: a decimal with 6 places. */
  credits: string;
}

/** Returns the price of dollars: a decimal with up to 9 places. */
export const priceOf = (dollars: string): AiPrice => ({ dollars, credits: creditsOf('ai', dollars) });

/** Returns dollars in billionths. */
const parseDollars = (text: string): bigint => parseDecimalUnits(text, DOLLAR_DECIMALS);

const formatDollars = (billionths: bigint): string => formatDecimalUnits(billionths, DOLLAR_DECIMALS);

/** Returns the price of an image. */
export const imagePrice = ({ price }: Pick<AiModel, 'price'>): AiPrice => priceOf(formatDollars(parseDollars(price!)));

type ChatPrices = Pick<AiModel, 'inputPrice' | 'outputPrice'>;

/** Returns the price of a chat: dollars rounded to the nearest billionth, a half up, and their credits. */
export function chatPrice(
  { inputPrice, outputPrice }: ChatPrices,
  { inputTokens, outputTokens }: { inputTokens: number; outputTokens: number },
): AiPrice {
  const input = parseDollars(inputPrice!) * BigInt(inputTokens);
  const output = parseDollars(outputPrice!) * BigInt(outputTokens);
  return priceOf(formatDollars((input + output + TOKENS_OF_PRICE / 2n) / TOKENS_OF_PRICE));
}

/**
 * Returns a price that a chat does not exceed, to be reserved before it. A token is at least one byte of the request, and
 * the response has at most `maxTokens`.
 */
export function estimateChat(model: ChatPrices, { messages, tools, maxTokens }: Omit<ChatRequest, 'model'>): AiPrice {
  const bytes = Buffer.byteLength(JSON.stringify({ messages, tools }));
  const inputTokens = bytes + REQUEST_TOKENS + MESSAGE_TOKENS * messages.length;
  return chatPrice(model, { inputTokens, outputTokens: maxTokens });
}

/** Returns the lower price. A call is charged at most what was reserved for it, whatever the provider counts. */
export const lowerPrice = (one: AiPrice, other: AiPrice): AiPrice =>
  parseDollars(one.dollars) <= parseDollars(other.dollars) ? one : other;
