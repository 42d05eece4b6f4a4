import { quoteUpstream, readErrorText } from '../../core/outbound.ts';

const MAX_REASON_BYTES = 16 * 1024;
/** Parts of a prompt that are at least this long are masked in texts of a provider; shorter prompts as whole words. */
const MIN_ECHO_CHARACTERS = 12;
/** Characters of a reason that are searched for echoes. Less is quoted. */
const MAX_REASON_CHARACTERS = 2000;
/** Texts that would have to be compared with longer prompts are not quoted: the comparison blocks the process. */
const MAX_COMPARED_CHARACTERS = 500_000;

/** Statuses of a provider that is overloaded. 529: Anthropic, "Errors". */
const BUSY_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504, 529]);

/** A response of a provider that is an error. Its message contains neither the key nor the prompt. */
export class ProviderRefusal extends Error {
  readonly httpStatus: number;
  /** The provider's own words. */
  readonly reason: string;
  readonly retryAfter: string | null;

  constructor(host: string, httpStatus: number, reason: string, retryAfter: string | null = null) {
    const what = httpStatus === 200 ? 'an error' : httpStatus;
    super(`The host "${host}" responded with ${what}${reason === '' ? '' : `: ${reason}`}`);
    this.httpStatus = httpStatus;
    this.reason = reason;
    this.retryAfter = retryAfter;
  }

  /** Whether a later try may succeed. */
  get isBusy(): boolean {
    return BUSY_STATUSES.has(this.httpStatus);
  }
}

/** The texts that no error may quote. */
interface Unquoted {
  endpoint: { apiKey: string | null };
  prompts: readonly string[];
}

/** Reads an error response. */
export async function readRefusal(response: Response, host: string, call: Unquoted): Promise<ProviderRefusal> {
  const words = reasonOf(await readErrorText(response, MAX_REASON_BYTES));
  return new ProviderRefusal(host, response.status, quoteProvider(words, call), response.headers.get('retry-after'));
}

/**
 * Returns the refusal that a response with status 200 contains in place of a result; null for none
 * (openrouter.ai/docs/errors).
 */
export function readInnerRefusal(body: Record<string, unknown>, host: string, call: Unquoted): ProviderRefusal | null {
  const hasResult = ['choices', 'data'].some((key) => Array.isArray(body[key]) && body[key].length > 0);
  return hasResult || !body['error'] ? null : new ProviderRefusal(host, 200, quoteProvider(wordsOf(body), call));
}

/** Returns the beginning of a provider's text, in one line, without the key and the prompts. */
export const quoteProvider = (text: string, call: Unquoted): string => quoteUpstream(maskQuoted(text, call));

/** Returns the beginning of a text with dots in place of the key and of all that it has in common with the prompts. */
export const maskQuoted = (text: string, { endpoint: { apiKey }, prompts }: Unquoted): string =>
  // The key first: no part of it may be left where the text is cut.
  maskEchoes(apiKey ? text.replaceAll(apiKey, '…') : text, prompts);

/** Returns the message of an error response, else its text. Gemini sends a list of one error. */
function reasonOf(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    return wordsOf((Array.isArray(body) ? body[0] : body) as Record<string, unknown>);
  } catch {
    return text;
  }
}

/** Returns the message of an error: `{"error": {"message"}}`, or the forms of other servers; '' without one. */
export function wordsOf({ error, message, detail }: Record<string, unknown>): string {
  const inner = typeof error === 'object' && error !== null ? (error as { message?: unknown }).message : error;
  return [inner, message, detail].find((part) => typeof part === 'string') ?? '';
}

/**
 * Returns the beginning of a text with dots in place of all that it has in common with the prompts, whatever the case and
 * the white space between words; '' if the prompts are too long to be compared.
 */
function maskEchoes(text: string, prompts: readonly string[]): string {
  if (prompts.reduce((sum, { length }) => sum + length, 0) > MAX_COMPARED_CHARACTERS) return '';
  const line = fold(text).slice(0, MAX_REASON_CHARACTERS);
  const folded = line.toLowerCase();
  // Some letters have another length in lower case: then no position is certain.
  if (folded.length !== line.length) return prompts.length === 0 ? line : '';
  const masked = Array.from({ length: line.length }, () => false);
  const places = placesOf(folded);
  for (const prompt of new Set(prompts)) markEchoes(folded, places, fold(prompt).trim().toLowerCase(), masked);
  return [...masked.keys()].map((at) => (masked[at] ? (masked[at - 1] ? '' : '…') : line[at])).join('');
}

const fold = (text: string): string => text.replaceAll(/\s+/gu, ' ');

/** Returns the positions of each part of a text with the length of an echo. */
function placesOf(text: string): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (let at = 0; at + MIN_ECHO_CHARACTERS <= text.length; at += 1) {
    const part = text.slice(at, at + MIN_ECHO_CHARACTERS);
    const known = places.get(part);
    if (known) known.push(at);
    else places.set(part, [at]);
  }
  return places;
}

/** Marks the positions of a text that belong to parts of a prompt, and removes them from `places`. */
function markEchoes(text: string, places: Map<string, number[]>, prompt: string, masked: boolean[]): void {
  if (prompt.length < MIN_ECHO_CHARACTERS) return markWords(text, prompt, masked);
  for (let at = 0; at + MIN_ECHO_CHARACTERS <= prompt.length; at += 1) {
    const part = prompt.slice(at, at + MIN_ECHO_CHARACTERS);
    for (const start of places.get(part) ?? []) masked.fill(true, start, start + MIN_ECHO_CHARACTERS);
    places.delete(part);
  }
}

/** Marks a short prompt where it is a whole word, or several. */
function markWords(text: string, words: string, masked: boolean[]): void {
  if (words === '') return;
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1))
    if (isWholeWord(text, at, words.length)) masked.fill(true, at, at + words.length);
}

const isWholeWord = (text: string, at: number, size: number): boolean =>
  !/[\p{L}\p{N}]/u.test(text.charAt(at - 1)) && !/[\p{L}\p{N}]/u.test(text.charAt(at + size));
