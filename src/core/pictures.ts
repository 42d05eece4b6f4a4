/** Formats of pictures that clients may upload. */
export type PictureFormat = 'png' | 'jpeg' | 'webp' | 'gif' | 'svg';

/** Media types of the formats. */
export const PICTURE_TYPES: Readonly<Record<PictureFormat, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  svg: 'image/svg+xml',
};

/** Maximum bytes of an uploaded picture. */
export const MAX_PICTURE_BYTES = 5_000_000;

/** A drawing of a picture: always upright, the first frame, without metadata. Sizes are in pixels. */
export type Drawing =
  /** The middle of the picture as a square in WebP. */
  | { as: 'square'; size: number }
  /** The whole picture: of an SVG its allowed parts, others as PNG whose sides have at most `maxSize`, never enlarged. */
  | { as: 'whole'; maxSize: number }
  /** The whole picture in the middle of transparent squares, as the PNGs of an ICO file. */
  | { as: 'ico'; sizes: readonly number[] };

/** A checked picture and its drawings, by their names. */
export interface PreparedPicture<Name extends string> {
  /** Format by the content alone. */
  format: PictureFormat;
  /** Allowed content of an SVG, in place of the file; null for other formats. */
  sanitized: Uint8Array | null;
  drawn: Record<Name, Uint8Array>;
}

/** The source of a picture: the path of a stored file, or its bytes. */
export type PictureSource = string | Uint8Array;
