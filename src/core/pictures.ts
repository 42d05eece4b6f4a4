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

/** A checked picture and what was drawn from it. */
export interface PreparedPicture {
  /** Format by the content alone. */
  format: PictureFormat;
  /** Allowed content of an SVG, in place of the file; null for other formats, which are kept as they are. */
  sanitized: Uint8Array | null;
  /** The middle of the picture as a square in WebP: upright, the first frame, without metadata. */
  drawn: Uint8Array;
}

/** What a picture is read from: the path of a stored file, or its bytes. */
export type PictureSource = string | Uint8Array;
