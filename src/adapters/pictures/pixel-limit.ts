import { badInput } from '../../core/errors.ts';

/** Maximum number of pixels: of a picture, of all embedded pictures of an SVG together, and of a drawing. */
export const MAX_PIXELS = 40_000_000;

/** The error of a picture with too many pixels. */
export const tooManyPixels = () => badInput(`The picture has more than ${MAX_PIXELS} pixels`);

/** Throws BAD_USER_INPUT for a picture with too many pixels. */
export function checkPixels(pixels: number): void {
  if (pixels > MAX_PIXELS) throw tooManyPixels();
}
