/** Maximum number of characters of each quoted text, list, object and word in a message. */
const MAX_PART_LENGTH = 100;
/** Maximum number of characters of a message. The longest message of the service names 20 resources. */
const MAX_MESSAGE = 2500;

const CLOSING: Record<string, string> = { '"': '"', '{': '}', '[': ']' };
const BLOCK = '"""';
const WORD = /[^\s"[{]+|\s+/y;

/**
 * Shortens the message of an error. Messages repeat the caller's input, which may be large: each quoted text, list,
 * object and word is cut after 100 characters.
 */
export function shortenMessage(message: string): string {
  if (message.length <= MAX_PART_LENGTH) return message;
  const text = shortenRawName(message);
  let short = '';
  for (let at = 0; at < text.length && short.length <= MAX_MESSAGE;) {
    const end = endOfPart(text, at);
    const closing = CLOSING[text[at]!] ?? '';
    const isShort = end - at <= MAX_PART_LENGTH + 2 * closing.length;
    short += isShort ? text.slice(at, end) : `${cut(text, at, MAX_PART_LENGTH + closing.length)}…${closing}`;
    at = end;
  }
  return short.length > MAX_MESSAGE ? `${cut(short, 0, MAX_MESSAGE)}…` : short;
}

/** Shortens a name or id that the caller sent, for messages that repeat it without quotes. */
export const shortenName = (name: string): string =>
  name.length > MAX_PART_LENGTH ? `${cut(name, 0, MAX_PART_LENGTH)}…` : name;

/** The texts before and after the names that graphql-js and Apollo quote unchanged. The names may contain quotes. */
const RAW_NAMES = [
  ['; Field "', '" is not defined by type "'],
  ['Unknown operation named "', '".'],
] as const;

function shortenRawName(message: string): string {
  for (const [before, after] of RAW_NAMES) {
    const start = message.indexOf(before) + before.length;
    const end = message.lastIndexOf(after);
    if (start >= before.length && end > start)
      return message.slice(0, start) + shortenName(message.slice(start, end)) + message.slice(end);
  }
  return message;
}

/** Returns the end of the quoted text, list, object, word or space that begins at `at`. */
function endOfPart(text: string, at: number): number {
  if (text[at] === '"') return endOfQuoted(text, at);
  if (text[at] === '{' || text[at] === '[') return endOfGroup(text, at);
  WORD.lastIndex = at;
  WORD.test(text);
  return WORD.lastIndex;
}

/** Returns the end of a text in quotes or of a block text of GraphQL. */
function endOfQuoted(text: string, start: number): number {
  if (text.startsWith(BLOCK, start)) {
    const end = text.indexOf(BLOCK, start + BLOCK.length);
    return end < 0 ? text.length : end + BLOCK.length;
  }
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return Math.min(at + 1, text.length);
}

/** Returns the end of a list or object: after its last bracket, else the end of the text. */
function endOfGroup(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length;) {
    const char = text[at]!;
    if (char === '{' || char === '[') depth += 1;
    if ((char === '}' || char === ']') && --depth === 0) return at + 1;
    at = char === '"' ? endOfQuoted(text, at) : at + 1;
  }
  return text.length;
}

/** Returns characters of a text, without half of a surrogate pair at their end. */
const cut = (text: string, at: number, length: number): string =>
  text.slice(at, at + length).replace(/[\uD800-\uDBFF]$/, '');
