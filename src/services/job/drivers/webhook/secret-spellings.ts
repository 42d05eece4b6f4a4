/** Minimum length of a part of a secret that is a secret too. */
const MIN_PART_LENGTH = 4;

/**
 * Returns the texts by which a host can repeat secrets: the secrets, their words, such as the token after `Bearer`, the
 * parts of Basic credentials, and each as in JSON and in URLs. The longest come first, because one can contain another.
 */
export function spellingsOf(secrets: Iterable<string>): string[] {
  const wholes = [...secrets].flatMap((secret) => [secret, secret.trim()]);
  const words = wholes.flatMap((secret) => secret.split(/\s+/));
  const decoded = words.flatMap((word) => Buffer.from(word, 'base64').toString().split(':'));
  const parts = [...words, ...decoded].filter((part) => part.length >= MIN_PART_LENGTH);
  const spellings = [...wholes, ...parts].flatMap((text) => [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text.toWellFormed()),
  ]);
  return [...new Set(spellings)].filter((text) => text !== '').sort((a, b) => b.length - a.length);
}
