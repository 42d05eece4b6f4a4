import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { outlineOf } from '../../src/adapters/pictures/letter-outline.ts';
import { sanitizeSvg } from '../../src/adapters/pictures/svg-sanitizer.ts';
import { defaultFavicon, defaultIcon, ICON_COLORS } from '../../src/services/assistant/default-icon.ts';
import { EMOJI_GLYPHS } from '../../src/services/assistant/emoji-glyphs.ts';
import { ICON_SIDE, shapeOf } from '../../src/services/assistant/icon-shape.ts';
import { GLYPHS } from '../../src/services/assistant/lucide-glyphs.ts';
import { MENUS } from '../../src/services/identity/menu.ts';
import { TOOLKIT_TEMPLATES } from '../../src/services/toolkit/toolkit-template.ts';
import { GLYPHS_FILE, renderGlyphs } from '../../tools/glyphs.ts';
import { readIco } from '../support/ico.ts';
import { awaitPictureProcess } from '../support/picture-processes.ts';

const BOT = { glyph: 'bot' };
const letter = async (character: string) => ({ outline: (await outlineOf(character, ICON_SIDE))! });
const svgOf = async (name: string, icon: string | null = null, id = '1') =>
  (await (await defaultIcon({ id, name, icon })).read())!.toString();

describe('the glyphs', () => {
  test('are those that the tool takes from the package: run `node tools/glyphs.ts`', () => {
    expect(readFileSync(GLYPHS_FILE, 'utf8')).toBe(renderGlyphs());
  });

  test('include all that menus and templates of toolkits show', () => {
    const icons = [...MENUS.flatMap(({ items }) => items), ...TOOLKIT_TEMPLATES].map(({ icon }) => icon);
    expect(icons.filter((icon) => !GLYPHS.has(icon))).toEqual([]);
  });

  test('are harmless, and differ when they are drawn', async () => {
    const pictures = new Set<string>();
    for (const glyph of GLYPHS.keys()) {
      const svg = await svgOf('x', glyph);
      expect(sanitizeSvg(svg).text.replaceAll(/><\/(?:path|rect|circle|line|ellipse|polyline)>/g, '/>')).toBe(svg);
      pictures.add((await sharp(Buffer.from(svg)).resize(48).raw().toBuffer()).toString('base64'));
    }
    expect(pictures.size).toBe(GLYPHS.size);
    expect(GLYPHS.size).toBeGreaterThanOrEqual(60);
  });

  test('of emoji exist', () => {
    expect([...EMOJI_GLYPHS].filter(([, glyph]) => !GLYPHS.has(glyph))).toEqual([]);
  });
});

describe('a default icon shows', () => {
  test.for([
    ['rocket', 'rocket'],
    [' Message_Square ', 'message-square'],
    ['chart  line', 'chart-line'],
    ['🚀', 'rocket'],
    ['❤️', 'heart'],
    ['👩‍💻', 'user'],
    ['🤖 helper', 'bot'],
    // The font has no flags, and few other emoji.
    ['🇩🇪', 'bot'],
    ['🦩', 'bot'],
  ] as const)('for the icon %s the glyph %s', async ([icon, glyph]) => {
    expect(await shapeOf({ icon, name: 'Zed' })).toEqual({ glyph });
  });

  test.for([
    ['😀', '😀'],
    ['♫', 'Z'],
    ['☂️', '☂'],
    ['7️⃣', '7'],
    // No emoji, and no name of a glyph.
    ['A', 'Z'],
    ['no-such-glyph', 'Z'],
    ['7', 'Z'],
    ['constructor', 'Z'],
    ['  ', 'Z'],
  ] as const)('for the icon %s the character %s', async ([icon, character]) => {
    expect(await shapeOf({ icon, name: 'Zed' })).toEqual(await letter(character));
  });

  test.for([
    ['a', 'A'],
    ['  shop assistant', 'S'],
    ['"quoted"', 'Q'],
    ['42 things', '4'],
    ['élan', 'É'],
    ['e\u0301lan', 'É'],
    ['x\u0302\u0323yz', 'X'],
    ['жук', 'Ж'],
    ['ωmega', 'Ω'],
    ['ßharp', 'ß'],
    ['ǆungla', 'D'],
    ['\ufb01sh', 'F'],
    ['①st', '1'],
    ['𝒜lpha', 'A'],
    ['Ｆull width', 'F'],
    ['ʻOkina', 'O'],
    ['ანა', 'ა'],
    ['שלום', 'ש'],
    ['\u202bسلام', 'س'],
    ['\u200b\u200d\u0007bell', 'B'],
    ['🚀 to the moon', 'T'],
    ['ǅ', 'D'],
    ['???', '?'],
    ['@', '@'],
    ['😀', '😀'],
    ['\ud800x', 'X'],
  ] as const)('for the name %j the character %s', async ([name, character]) => {
    expect(await shapeOf({ name })).toEqual(await letter(character));
  });

  test.for([
    '中文',
    'あ',
    'नमस्ते',
    'ไทย',
    '한국',
    '',
    '   ',
    '\u200b\u200d\ufeff',
    '\u0000\u001b',
    '\u0301',
    '🦩',
    '\ud83d',
  ])('for the name %j, which the font lacks, the glyph of assistants', async (name) => {
    expect(await shapeOf({ name })).toEqual(BOT);
    expect(await shapeOf({ name, icon: null })).toEqual(BOT);
  });
});

describe('a default icon', () => {
  test('consists of paths, whatever the name', async () => {
    for (const name of ['Zed', '<script>', '"/><text>', '&amp;', '中文', 'סלום', '']) {
      const svg = await svgOf(name);
      expect(svg).not.toMatch(/<text|font|<script|href|NaN|undefined/);
      expect(await sharp(Buffer.from(svg)).metadata()).toMatchObject({ format: 'svg', width: 512, height: 512 });
    }
  });

  test('has the same colour and bytes for the same assistant, whose icon is white on it', async () => {
    const colorOf = (svg: string) => /fill="(#[\da-f]{6})"/.exec(svg)![1]!;
    expect(await svgOf('Zed')).toBe(await svgOf('Zed'));
    const id = '0190aaaa-0000-7000-8000-000000000001';
    expect(colorOf(await svgOf('Zed', null, id))).toBe(colorOf(await svgOf('Other', 'bot', id)));
    const colors = await Promise.all(
      Array.from({ length: 300 }, async (_, n) => colorOf(await svgOf('Z', null, `${n}`))),
    );
    expect(new Set(colors)).toEqual(new Set(ICON_COLORS));
    const png = await sharp(Buffer.from(await svgOf('I', null, id)))
      .raw()
      .toBuffer({ resolveWithObject: true });
    const at = (x: number, y: number) => [...png.data.subarray((y * 512 + x) * 4, (y * 512 + x) * 4 + 4)];
    expect([at(256, 256), at(0, 0)]).toEqual([
      [255, 255, 255, 255],
      [0, 0, 0, 0],
    ]);
    const rgb = colorOf(await svgOf('I', null, id))
      .match(/[\da-f]{2}/g)!
      .map((hex) => parseInt(hex, 16));
    expect(at(60, 256)).toEqual([...rgb, 255]);
  });

  test('has colours on which white is readable', () => {
    const luminance = (color: string) => {
      const [r, g, b] = color.match(/[\da-f]{2}/g)!.map((hex) => {
        const value = parseInt(hex, 16) / 255;
        return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
    };
    for (const color of ICON_COLORS) expect(1.05 / (luminance(color) + 0.05), color).toBeGreaterThanOrEqual(4.5);
  });

  test('has the letter in the middle', async () => {
    for (const character of ['A', 'i', 'g', 'W', '-', 'ש']) {
      const numbers = (await outlineOf(character, 64))!.match(/-?\d+(?:\.\d+)?/g)!.map(Number);
      const middle = (values: number[]) => (Math.min(...values) + Math.max(...values)) / 2;
      expect(middle(numbers.filter((_, n) => n % 2 === 0)), character).toBeCloseTo(32, 0);
      expect(middle(numbers.filter((_, n) => n % 2 === 1)), character).toBeCloseTo(32, 0);
    }
  });

  test('can be drawn for every character of the font', async () => {
    let count = 0;
    for (let code = 0; code < 0x20000; code += 1) {
      const outline = await outlineOf(String.fromCodePoint(code), 64);
      if (outline === null) continue;
      count += 1;
      if (!/^(?:[MLQCZ](?:-?\d+(?:\.\d+)?(?: |(?=[A-Z]|$)))*)+$/.test(outline)) expect.fail(`${code}: ${outline}`);
    }
    expect(count).toBeGreaterThan(5000);
  });
});

test('the favicon of a default icon is drawn once, in a process of its own', async () => {
  const owner = { id: '1', name: 'Favicon', icon: 'flame' };
  const caller = { tenantId: 'tenant', userId: 'user' };
  const drawing = Promise.all([defaultFavicon(owner, caller), defaultFavicon(owner, caller)]);
  await awaitPictureProcess();
  const [first, second] = await drawing;
  expect(second).toBe(first);
  expect(await defaultFavicon({ ...owner, name: 'Renamed' }, caller)).toBe(first);
  const pictures = readIco((await first.read())!);
  for (const { size, png } of pictures) {
    const data = await sharp(png).raw().toBuffer();
    const alphaAt = (x: number, y: number) => data[(y * size + x) * 4 + 3];
    expect([alphaAt(0, 0), alphaAt(size >> 1, 1)]).toEqual([expect.closeTo(0, -2), 255]);
  }
});
