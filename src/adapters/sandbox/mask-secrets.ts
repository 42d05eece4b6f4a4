/** Minimum length of the secrets that are replaced. Shorter ones, such as `1` or `yes`, also occur in texts by chance. */
const MIN_CHARACTERS = 4;

/** Returns a function that replaces secrets in texts by a mask, including their form in JSON. */
export function createMasking(secrets: readonly string[], mask: string): (text: string) => string {
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  const masked = [...new Set(forms)].filter(({ length }) => length >= MIN_CHARACTERS);
  return (text) => {
    if (!masked.some((secret) => text.includes(secret))) return text;
    // A byte for each character: the time does not depend on how many occurrences overlap.
    const isSecret = new Uint8Array(text.length);
    for (const secret of masked)
      for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length))
        isSecret.fill(1, at, at + secret.length);
    return withoutMarked(text, isSecret, mask);
  };
}

/** Replaces each range of marked characters. */
function withoutMarked(text: string, isMarked: Uint8Array, mask: string): string {
  let result = '';
  for (let start = 0; start < text.length;) {
    const marked = isMarked.indexOf(1, start);
    if (marked < 0) return result + text.slice(start);
    result += text.slice(start, marked) + mask;
    const end = isMarked.indexOf(0, marked);
    start = end < 0 ? text.length : end;
  }
  return result;
}
