import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Command, Font } from 'opentype.js';

/** The one font of letters, whatever fonts the machine has: Latin, Greek, Cyrillic, Hebrew, Arabic and many symbols. */
const FONT = 'dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf';
/** Size of a letter, and the maximum of its width and height, as parts of the square. */
const FONT_SIZE = 0.7;
const MAX_EXTENT = 0.64;

let loading: Promise<Font> | undefined;

/** Returns the font. A process reads it once, when it needs the first letter: 40 ms and 15 MB. */
const loadFont = (): Promise<Font> =>
  (loading ??= readFont().catch((error: unknown) => {
    loading = undefined;
    throw error;
  }));

async function readFont(): Promise<Font> {
  const { default: opentype } = await import('opentype.js');
  const bytes = await readFile(createRequire(import.meta.url).resolve(FONT));
  return opentype.parse(new Uint8Array(bytes).buffer, { lowMemory: true });
}

/**
 * Returns the outline of a character as the data of an SVG path, in the middle of a square of `side` units. Null if the
 * font lacks the character, and for one that is not visible.
 */
export async function outlineOf(character: string, side: number): Promise<string | null> {
  const glyph = (await loadFont()).charToGlyph(character);
  if (glyph.index === 0) return null;
  const box = glyph.getPath(0, 0, 1);
  if (box.commands.length === 0) return null;
  const { x1, y1, x2, y2 } = box.getBoundingBox();
  const size = side * Math.min(FONT_SIZE, MAX_EXTENT / Math.max(x2 - x1, y2 - y1));
  return pathData(glyph.getPath((side - size * (x1 + x2)) / 2, (side - size * (y1 + y2)) / 2, size).commands);
}

/** Writes commands with two decimals. `toPathData` of the library writes NaN for some numbers with many digits. */
const pathData = (commands: readonly Command[]): string =>
  commands
    .map(({ type, ...points }) => {
      const numbers = [points.x1, points.y1, points.x2, points.y2, points.x, points.y];
      return type + numbers.flatMap((number) => (number === undefined ? [] : [Number(number.toFixed(2))])).join(' ');
    })
    .join('');
