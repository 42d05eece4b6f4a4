import sharp from 'sharp';
import { badInput, tooLarge } from '../../core/errors.ts';
import { MAX_PICTURE_BYTES, type PictureFormat, type PreparedPicture } from '../../core/pictures.ts';
import { checkSingleType, formatOf } from './picture-format.ts';
import { checkPixels, MAX_PIXELS, tooManyPixels } from './pixel-limit.ts';
import { sanitizeSvg } from './svg-sanitizer.ts';

/** The resolution at which an SVG has its own size. */
const SVG_DPI = 72;
const MAX_DPI = 100_000;
const WEBP_QUALITY = 85;

// No loader but those of the supported formats can run, whatever a file contains.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: [
    'VipsForeignLoadPng',
    'VipsForeignLoadJpeg',
    'VipsForeignLoadWebp',
    'VipsForeignLoadNsgif',
    'VipsForeignLoadSvg',
  ],
});
sharp.cache(false);
sharp.concurrency(1);

/**
 * Checks a file and draws it in a square of `size` pixels. Throws BAD_USER_INPUT for what is no supported picture, or
 * could harm those who open it, and PAYLOAD_TOO_LARGE for an SVG that is too large when it is written again.
 */
export async function drawPicture(bytes: Buffer, size: number): Promise<PreparedPicture> {
  const format = formatOf(bytes);
  const sanitized = format === 'svg' ? await sanitize(bytes) : null;
  if (!sanitized) checkSingleType(bytes, format);
  const source = sanitized ?? bytes;
  const { width, height } = await measure(source, format);
  return { format, sanitized, drawn: await draw(source, format, Math.min(width, height), size) };
}

/**
 * Returns the allowed parts of an SVG. Its embedded pictures obey the rules of others. Throws PAYLOAD_TOO_LARGE if the parts
 * are too large, which they can be although the file is not: a quotation mark becomes `&quot;`.
 */
async function sanitize(bytes: Buffer): Promise<Buffer> {
  const { text, images } = sanitizeSvg(decode(bytes));
  let pixels = 0;
  for (const image of images) {
    const format = formatOf(image);
    if (format === 'svg') throw badInput('The SVG contains another SVG');
    checkSingleType(image, format);
    const { width, height } = await measure(image, format);
    checkPixels((pixels += width * height));
  }
  const sanitized = Buffer.from(text);
  if (sanitized.length > MAX_PICTURE_BYTES)
    throw tooLarge(`The allowed parts of the SVG have ${sanitized.length} bytes, more than ${MAX_PICTURE_BYTES}`);
  return sanitized;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw badInput('The SVG is not encoded as UTF-8', { cause: error });
  }
}

/** Returns the size of a picture in pixels. Throws if the content is of another format than its beginning. */
async function measure(bytes: Buffer, format: PictureFormat): Promise<{ width: number; height: number }> {
  const found = await withPictureErrors(format, () => sharp(bytes, readOptions()).metadata());
  const { width, height } = found;
  if (found.format !== format || !width || !height) throw badInput('The picture is damaged');
  checkPixels(width * height);
  return { width, height };
}

const readOptions = (density?: number) =>
  ({ failOn: 'truncated', limitInputPixels: MAX_PIXELS, pages: 1, ...(density && { density }) }) as const;

/** Draws the middle of a picture in a square of `size` pixels. `shortSide` is that of the picture. */
function draw(bytes: Buffer, format: PictureFormat, shortSide: number, size: number): Promise<Buffer> {
  // An SVG is drawn in the size in which it is needed, so that it is sharp and takes no more time than that.
  const density = format === 'svg' ? Math.min(MAX_DPI, Math.max(1, (SVG_DPI * size) / shortSide)) : undefined;
  const upright = sharp(bytes, readOptions(density)).autoOrient();
  const squared = upright.resize({ width: size, height: size, fit: 'cover' });
  return withPictureErrors(format, () => squared.webp({ quality: WEBP_QUALITY }).toBuffer());
}

/**
 * Runs what reads a picture. Throws BAD_USER_INPUT for errors of the picture. Those of the system and of the library
 * itself stay as they are.
 */
async function withPictureErrors<T>(format: PictureFormat, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || isOwnError(error, format)) throw error;
    if (error.message.includes('exceeds pixel limit')) throw tooManyPixels();
    throw badInput('The picture is damaged', { cause: error });
  }
}

/** Returns whether an error is not that of a picture, but of its caller, of the system, or of a loader that is missing. */
const isOwnError = (error: Error, format: PictureFormat): boolean =>
  error.constructor !== Error ||
  'code' in error ||
  /out of memory|unable to allocate|cannot allocate/i.test(error.message) ||
  // Only the loader of WebP looks further than the signature before it is chosen.
  (format !== 'webp' && error.message.includes('unsupported image format'));
