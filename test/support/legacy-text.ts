/** Returns a text in an encoding of one or two bytes a character, with the inverse of its decoder. */
export function encodeLegacy(text: string, encoding: string): Buffer {
  const decoder = new TextDecoder(encoding);
  const bytes = new Map<string, number[]>();
  for (let first = 0xff; first >= 0x80; first--) {
    for (let second = 0xfe; second >= 0x40; second--)
      bytes.set(decoder.decode(Uint8Array.of(first, second)), [first, second]);
    bytes.set(decoder.decode(Uint8Array.of(first)), [first]);
  }
  const encoded = [...text].map((one) => (one < '\x80' ? [one.charCodeAt(0)] : bytes.get(one)));
  if (encoded.includes(undefined)) throw new Error(`${encoding} has no "${text[encoded.indexOf(undefined)]}"`);
  return Buffer.from(encoded.flat() as number[]);
}
