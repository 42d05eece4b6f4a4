import { expect } from 'vitest';

/** Returns the sizes and the PNGs of an ICO file. Expects that its header, its entries and its length are right. */
export function readIco(file: Buffer): { size: number; png: Buffer }[] {
  const [reserved, type, count] = [0, 2, 4].map((at) => file.readUInt16LE(at));
  expect([reserved, type]).toEqual([0, 1]);
  let end = 6 + 16 * count!;
  const pictures = Array.from({ length: count! }, (_, n) => {
    const at = 6 + 16 * n;
    const [width, height, colors, zero] = file.subarray(at, at + 4);
    expect([height, colors, zero, file.readUInt16LE(at + 4), file.readUInt16LE(at + 6)]).toEqual([width, 0, 0, 1, 32]);
    const [length, offset] = [file.readUInt32LE(at + 8), file.readUInt32LE(at + 12)];
    expect(offset).toBe(end);
    end += length;
    const png = file.subarray(offset, end);
    // The signature, and width and height of the first chunk.
    expect(png.toString('hex', 0, 8)).toBe('89504e470d0a1a0a');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([width, width]);
    return { size: width!, png };
  });
  expect(file.length).toBe(end);
  return pictures;
}
