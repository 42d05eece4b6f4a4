import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { EXPORT_FORMATS } from '../../src/core/export-format.ts';
import type { Field } from '../../src/core/fields.ts';
import { exportFile } from '../../src/services/resource/export-file.ts';

const FIELDS: Field[] = [{ name: 'text', label: 'Text', type: 'string' }];
/** Texts that do not compress well, more than three chunks of each format. */
const ROWS = Array.from({ length: 2000 }, () => ({ text: randomBytes(1000).toString('base64') }));

async function* inBatches(size: number) {
  for (let at = 0; at < ROWS.length; at += size) yield ROWS.slice(at, at + size);
}

test.each(EXPORT_FORMATS)(
  'the chunks of a file with the format %s are equally long, however many rows are read in one step',
  async (format) => {
    const lengthsOf = async (size: number) => {
      const lengths: number[] = [];
      for await (const { text, encoding } of exportFile(format, { filename: 'a', title: 'A' }, FIELDS, () =>
        inBatches(size),
      ))
        lengths.push(Buffer.byteLength(text, encoding));
      return lengths;
    };
    const [first, ...more] = await lengthsOf(7);
    const last = more.pop()!;
    expect(more.length).toBeGreaterThan(0);
    expect(new Set([first, ...more]).size).toBe(1);
    expect(last).toBeLessThanOrEqual(first!);
    expect((await lengthsOf(500)).slice(0, -1)).toEqual([first, ...more]);
  },
);
