import sharp from 'sharp';
import { badInput, tooLarge } from '../../core/errors.ts';
import { MAX_PICTURE_BYTES, type Drawing, type PictureFormat, type PreparedPicture } from '../../core/pictures.ts';
import { createIco } from './ico.ts';
import { checkSingleType, formatOf } from './picture-format.ts';
import { checkPixels, MAX_PIXELS, tooManyPixels } from './pixel-limit.ts';
import { sanitizeSvg } from './svg-sanitizer.ts';

/** The resolution at which an SVG has its own size. */
const SVG_DPI = 72;
const MAX_DPI = 100_000;
const WEBP_QUALITY = 85;
const TRANSPARENT = { r: 0, g: 0, b: 0, alpha: 0 };

// Only the loaders of the supported formats can run, whatever a file contains.
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
 * Checks a file and draws from it. Throws BAD_USER_INPUT for a file that is not a supported picture, or could harm
 * those who open it, and PAYLOAD_TOO_LARGE for an SVG that is too large when it is written again.
 */
export async function drawPicture<Name extends string>(
  bytes: Buffer,
  drawings: Readonly<Record<Name, Drawing>>,
): Promise<PreparedPicture<Name>> {
  const format = formatOf(bytes);
  const sanitized = format === 'svg' ? await sanitize(bytes) : null;
  if (!sanitized) checkSingleType(bytes, format);
  const source = sanitized ?? bytes;
  const picture = { bytes: source, format, ...(await measure(source, format)) };
  const drawn: Record<string, Uint8Array> = {};
  for (const [name, drawing] of Object.entries<Drawing>(drawings))
    drawn[name] = await withPictureErrors(format, () => draw(picture, drawing));
  return { format, sanitized, drawn };
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

/** A picture whose content was checked. `width` and `height` are its own, in pixels. */
interface CheckedPicture {
  bytes: Buffer;
  format: PictureFormat;
  width: number;
  height: number;
}

function draw(picture: CheckedPicture, drawing: Drawing): Promise<Buffer> {
  if (drawing.as === 'square') return drawSquare(picture, drawing.size);
  return drawing.as === 'whole' ? drawWhole(picture, drawing.maxSize) : drawIco(picture, drawing.sizes);
}

/**
 * Begins to draw a picture. An SVG is drawn in the required size, so that it is sharp and takes only the necessary
 * time: `side` becomes `size` pixels, and no side less than one.
 */
function begin({ bytes, format, width, height }: CheckedPicture, side: number, size: number) {
  const density = SVG_DPI * Math.max(size / side, 1 / Math.min(width, height));
  return sharp(bytes, readOptions(format === 'svg' ? Math.min(MAX_DPI, Math.max(1, density)) : undefined)).autoOrient();
}

const drawSquare = (picture: CheckedPicture, size: number): Promise<Buffer> =>
  begin(picture, Math.min(picture.width, picture.height), size)
    .resize({ width: size, height: size, fit: 'cover' })
    .webp({ quality: WEBP_QUALITY })
    .toBuffer();

/** Returns the bytes of an SVG as they are. */
const drawWhole = async (picture: CheckedPicture, maxSize: number): Promise<Buffer> =>
  picture.format === 'svg'
    ? picture.bytes
    : begin(picture, maxSize, maxSize)
        .resize({ width: maxSize, height: maxSize, fit: 'inside', withoutEnlargement: true })
        .png()
        .toBuffer();

/** Reads the picture once, in twice the largest size. */
async function drawIco(picture: CheckedPicture, sizes: readonly number[]): Promise<Buffer> {
  const largest = 2 * Math.max(...sizes);
  const whole = await begin(picture, Math.max(picture.width, picture.height), largest)
    .resize({ width: largest, height: largest, fit: 'inside' })
    .png()
    .toBuffer();
  const pngOf = (size: number): Promise<Buffer> =>
    sharp(whole)
      .resize({ width: size, height: size, fit: 'contain', background: TRANSPARENT })
      .ensureAlpha()
      .png()
      .toBuffer();
  return createIco(await Promise.all(sizes.map(async (size) => ({ size, png: await pngOf(size) }))));
}

/**
 * Runs work that reads a picture. Throws BAD_USER_INPUT for errors of the picture. Errors of the system and of the
 * library itself stay unchanged.
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

/**
 * Returns whether an error does not belong to a picture, but to its caller, to the system, or to a loader that is
 * missing.
 */
const isOwnError = (error: Error, format: PictureFormat): boolean =>
  error.constructor !== Error ||
  'code' in error ||
  /out of memory|unable to allocate|cannot allocate/i.test(error.message) ||
  // Only the loader of WebP looks further than the signature before it is chosen.
  (format !== 'webp' && error.message.includes('unsupported image format'));
