import { outlineOf } from '../../adapters/pictures/letter-outline.ts';
import { normalizeText } from '../../core/normalize-text.ts';
import { EMOJI_GLYPHS } from './emoji-glyphs.ts';
import { GLYPHS } from './lucide-glyphs.ts';

/** The shape on a default icon: a glyph by its name, or a character by its outline, the data of a path. */
export type IconShape = { glyph: string } | { outline: string };

/** Side of the square of a default icon, in units. */
export const ICON_SIDE = 64;

/** The glyph of assistants, for characters that the font lacks. */
const ASSISTANT: IconShape = { glyph: 'bot' };

/** The first character of an emoji: a picture, a part of a flag, or the character of a key. */
const EMOJI = /^(?:\p{Extended_Pictographic}|\p{Regional_Indicator}|[\d#*](?=\uFE0F?\u20E3))/u;
/** Letters but modifiers such as the ʻ of ʻOkina, and numbers. */
const LETTER = /[\p{Lu}\p{Ll}\p{Lt}\p{Lo}\p{N}]/u;
const SYMBOL = /[\p{P}\p{S}]/u;

/**
 * Returns the shape on an assistant's default icon: the glyph or the emoji of `icon`, else the initial of the name. The
 * initial is the first letter or number, in upper case. A name without any has its first symbol.
 */
export async function shapeOf({ icon, name }: { icon?: string | null; name: string }): Promise<IconShape> {
  const stated = (icon ?? '').trim();
  const glyph = stated.toLowerCase().replaceAll(/[\s_-]+/g, '-');
  if (GLYPHS.has(glyph)) return { glyph };
  const emoji = EMOJI.exec(stated)?.[0];
  if (emoji) return symbolShape(emoji);
  // Composed, without styles: an e with an accent is one character, and a letter in a circle is that letter.
  const letter = LETTER.exec(normalizeText(name, 'NFKC'))?.[0];
  if (letter) return letterShape(letter);
  const symbol = SYMBOL.exec(name)?.[0];
  return symbol ? symbolShape(symbol) : ASSISTANT;
}

async function letterShape(letter: string): Promise<IconShape> {
  const upper = letter.toUpperCase();
  // ß becomes two letters, and the font has the Georgian letters in lower case only.
  const capital = [...upper].length === 1 ? await outlineOf(upper, ICON_SIDE) : null;
  const outline = capital ?? (await outlineOf(letter, ICON_SIDE));
  return outline === null ? ASSISTANT : { outline };
}

async function symbolShape(symbol: string): Promise<IconShape> {
  const glyph = EMOJI_GLYPHS.get(symbol);
  if (glyph) return { glyph };
  const outline = await outlineOf(symbol, ICON_SIDE);
  return outline === null ? ASSISTANT : { outline };
}
