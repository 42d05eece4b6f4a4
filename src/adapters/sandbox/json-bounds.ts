/** Maximum number of values in a JSON text of a program. Each takes memory in the process that parses it. */
const MAX_VALUES = 100_000;
/** Maximum depth of a JSON text of a program. Code walks JSON values recursively. */
const MAX_DEPTH = 64;

/** Returns why a JSON text must not be parsed; undefined if it may. The text must be valid JSON. */
export function jsonViolation(text: string): string | undefined {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) at = endOfString(text, at);
    else if (char === 0x2c) values += 1;
    else if (char === 0x5b || char === 0x7b) {
      depth += 1;
      values += 1;
      if (depth > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels`;
    } else if (char === 0x5d || char === 0x7d) depth -= 1;
    if (values > MAX_VALUES) return `has more than ${MAX_VALUES} values`;
  }
  return undefined;
}

/** Returns the index of the quotation mark that ends a string. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
