import { quoteUpstream, readErrorText } from '../../core/outbound.ts';

const MAX_REASON_BYTES = 16 * 1024;
/** Parts of a prompt that are at least this long are masked in what a provider says; shorter prompts as whole words. */
const MIN_ECHO_CHARACTERS = 12;

/** A response of a provider that is an error. Its message contains neither the key nor the prompt. */
export class ProviderRefusal extends Error {
  readonly httpStatus: number;
  /** The provider's own words. */
  readonly reason: string;

  constructor(host: string, httpStatus: number, reason: string) {
    super(`The host "${host}" responded with ${httpStatus}${reason === '' ? '' : `: ${reason}`}`);
    this.httpStatus = httpStatus;
    this.reason = reason;
  }
}

/** Reads an error response. */
export async function readRefusal(
  response: Response,
  host: string,
  apiKey: string | null,
  prompts: readonly string[],
): Promise<ProviderRefusal> {
  const words = reasonOf(await readErrorText(response, MAX_REASON_BYTES));
  const reason = quoteUpstream(maskEchoes(words, prompts), apiKey === null ? [] : [apiKey]);
  return new ProviderRefusal(host, response.status, reason);
}

/** Returns the message of an error: `{"error": {"message"}}`, or the forms of other servers, else the text itself. */
function reasonOf(text: string): string {
  try {
    const { error, message, detail } = JSON.parse(text) as Record<string, unknown>;
    const inner = typeof error === 'object' && error !== null ? (error as { message?: unknown }).message : error;
    return [inner, message, detail].find((part) => typeof part === 'string') ?? '';
  } catch {
    return text;
  }
}

/**
 * Returns a text with dots in place of all that it has in common with the prompts, whatever the case and the white space
 * between words.
 */
function maskEchoes(text: string, prompts: readonly string[]): string {
  const line = text.replaceAll(/\s+/gu, ' ');
  const folded = line.toLowerCase();
  // Some letters have another length in lower case: then no position is certain.
  if (folded.length !== line.length) return prompts.length === 0 ? line : '';
  const masked = Array.from({ length: line.length }, () => false);
  for (const prompt of prompts) markEchoes(folded, prompt.replaceAll(/\s+/gu, ' ').trim().toLowerCase(), masked);
  return [...masked.keys()].map((at) => (masked[at] ? (masked[at - 1] ? '' : '…') : line[at])).join('');
}

/** Marks the positions of a text that belong to parts of a prompt. */
function markEchoes(text: string, prompt: string, masked: boolean[]): void {
  if (prompt === '') return;
  const size = Math.min(MIN_ECHO_CHARACTERS, prompt.length);
  const places = new Map<string, number[]>();
  for (let at = 0; at + size <= text.length; at += 1) {
    const isWord = size === MIN_ECHO_CHARACTERS || isWholeWord(text, at, size);
    const part = text.slice(at, at + size);
    if (isWord) places.set(part, [...(places.get(part) ?? []), at]);
  }
  for (let at = 0; at + size <= prompt.length; at += 1) {
    const found = places.get(prompt.slice(at, at + size));
    for (const start of found ?? []) masked.fill(true, start, start + size);
    if (found) places.delete(prompt.slice(at, at + size));
  }
}

const isWholeWord = (text: string, at: number, size: number): boolean =>
  !/[\p{L}\p{N}]/u.test(text.charAt(at - 1)) && !/[\p{L}\p{N}]/u.test(text.charAt(at + size));
