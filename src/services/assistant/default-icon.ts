import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { preparePicture } from '../../adapters/pictures/pictures.ts';
import type { Caller } from '../../core/fair-gate.ts';
import { PICTURE_TYPES } from '../../core/pictures.ts';
import { pictureOf, type PictureFile } from '../resource/picture-file.ts';
import { ICON_SIDE, shapeOf, type IconShape } from './icon-shape.ts';
import { GLYPHS } from './lucide-glyphs.ts';

/** An assistant, as far as its default icon depends on it. */
export interface IconOwner {
  id: string;
  name: string;
  icon?: string | null;
}

/** Colours on which white has a contrast of at least 4.5 to 1. */
export const ICON_COLORS = [
  '#1d4ed8',
  '#4338ca',
  '#6d28d9',
  '#a21caf',
  '#be185d',
  '#b91c1c',
  '#c2410c',
  '#a16207',
  '#4d7c0f',
  '#15803d',
  '#0f766e',
  '#0e7490',
  '#475569',
] as const;

/** Width and height of a default icon in pixelsbefore scaling. */
const PIXELS = 512;
/** Side of a glyph's square, which has 24 units. */
const GLYPH_SIDE = 42;
/** Type of a favicon, and the picture that is drawn from an icon for it. */
export const FAVICON_TYPE = 'image/x-icon';
export const FAVICON_DRAWING = { favicon: { as: 'ico', sizes: [16, 32, 48] } } as const;

/** The pictures that were drawn last, by their content: 2 KB for an icon, 3 KB for a favicon. */
const MAX_CACHED = 500;
const favicons = new LRUCache<string, Promise<PictureFile>>({ max: MAX_CACHED });

/** Returns the icon of an assistant without an uploaded one: an SVG of paths, the same for the same owner. */
export async function defaultIcon(owner: IconOwner): Promise<PictureFile> {
  return pictureOf(PICTURE_TYPES.svg, Buffer.from(await drawIcon(owner)));
}

/** Returns the favicon of an assistant without an uploaded icon. Each process draws it once. */
export async function defaultFavicon(owner: IconOwner, caller: Caller): Promise<PictureFile> {
  const svg = await drawIcon(owner);
  let favicon = favicons.get(svg);
  if (!favicon) {
    favicon = drawFavicon(svg, caller);
    favicons.set(svg, favicon);
    favicon.catch(() => favicons.delete(svg));
  }
  return favicon;
}

async function drawFavicon(svg: string, caller: Caller): Promise<PictureFile> {
  // Other requests wait for the same picture, so it does not end with the first request.
  const { signal } = new AbortController();
  const { drawn } = await preparePicture(Buffer.from(svg), FAVICON_DRAWING, caller, signal);
  return pictureOf(FAVICON_TYPE, drawn.favicon);
}

async function drawIcon(owner: IconOwner): Promise<string> {
  const color = ICON_COLORS[hash('sha256', owner.id, 'buffer').readUInt32BE() % ICON_COLORS.length];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${PIXELS}" height="${PIXELS}" viewBox="0 0 ${ICON_SIDE} ${ICON_SIDE}">` +
    `<rect width="${ICON_SIDE}" height="${ICON_SIDE}" rx="14" fill="${color}"/>${drawShape(await shapeOf(owner))}</svg>`
  );
}

function drawShape(shape: IconShape): string {
  if ('outline' in shape) return `<path fill="#fff" d="${shape.outline}"/>`;
  const offset = (ICON_SIDE - GLYPH_SIDE) / 2;
  return (
    `<g transform="translate(${offset} ${offset}) scale(${GLYPH_SIDE / 24})" color="#fff" fill="none" stroke="#fff" ` +
    `stroke-width="2" stroke-linecap="round" stroke-linejoin="round">${GLYPHS.get(shape.glyph)}</g>`
  );
}
