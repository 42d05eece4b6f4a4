/** Maximum length of a stored text, in UTF-16 code units. Longer than any path that the server receives. */
const MAX_LENGTH = 16_384;

/** Returns a text as a column can contain it: without NUL, and at most `MAX_LENGTH` long. */
export function storedText(text: string): string {
  const short = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1)}…` : text;
  return short.replaceAll('\0', '\u{fffd}').toWellFormed();
}
