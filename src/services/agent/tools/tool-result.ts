import { storableText } from '../../../core/storable-text.ts';

/** Maximum size of the result of a tool that a model gets. */
export const MAX_RESULT_BYTES = 64 * 1024;
/** Maximum number of characters of texts in the record of a run. */
const MAX_EXCERPT = 4096;

const CUT = '\n[The result is longer. The rest was left out.]';

/** Returns the beginning of a text within a number of bytes, whole characters only; with a mark if it was cut. */
export function cutResult(text: string, maxBytes = MAX_RESULT_BYTES): string {
  const clean = storableText(text);
  const bytes = Buffer.from(clean);
  if (bytes.length <= maxBytes) return clean;
  let end = maxBytes - Buffer.byteLength(CUT);
  // Not within a character: its further bytes begin with the bits 10.
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString('utf8') + CUT;
}

/** Returns the beginning of a text for the record of a run. */
export function excerpt(text: string, maxCharacters = MAX_EXCERPT): string {
  const clean = storableText(text);
  return clean.length > maxCharacters ? `${clean.slice(0, maxCharacters - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : clean;
}

/** Returns a text with dots in place of secrets, including their forms in JSON and in URLs. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  // A secret may be within another one.
  const sorted = [...new Set(forms)].toSorted((a, b) => b.length - a.length);
  return sorted.reduce((masked, secret) => masked.replaceAll(secret, '…'), text);
}
