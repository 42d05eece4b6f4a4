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

/**
 * How a picture is drawn: `cover` fills a square with its centre, as WebP; `inside` fits all of it into a square without
 * enlarging a raster picture, as PNG. `size` is the side of the square in pixels.
 */
export interface PictureShape {
  fit: 'cover' | 'inside';
  size: number;
}

/** A picture of which all is known to be harmless. */
export interface PreparedPicture {
  /** Format by the content alone. */
  format: PictureFormat;
  /** Allowed content of an SVG, in place of the file; null for other formats, which are kept as they are. */
  sanitized: Uint8Array | null;
  /** The pictures in the requested shapes: upright, the first frame, without metadata. */
  drawn: Uint8Array[];
}

/** What a picture is read from: the path of a stored file, or its bytes. */
export type PictureSource = string | Uint8Array;
