import { badInput } from '../../core/errors.ts';
import type { PictureFormat } from '../../core/pictures.ts';

const SUPPORTED = 'PNG, JPEG, WebP, GIF or SVG';

/** The beginnings of raster formats. Bytes of one character each. */
const SIGNATURES: Readonly<Record<Exclude<PictureFormat, 'svg'>, RegExp>> = {
  png: /^\x89PNG\r\n\x1a\n/,
  jpeg: /^\xff\xd8\xff/,
  webp: /^RIFF[^]{4}WEBP/,
  gif: /^GIF8[79]a/,
};

/** An XML document begins with markup, after a byte order mark and white space. */
const MARKUP = /^(?:\xef\xbb\xbf)?\s*</;

/** Markup and programs that browsers or servers could run if they took the file for another type. */
const PROGRAM = /<(?:!doctype|html|head|body|script|iframe|svg[ >]|\?php)|%pdf-|javascript:/i;
/** The end of a ZIP archive, within the last 64 KiB. */
const ZIP_END = 'PK\x05\x06';
const ZIP_TAIL_BYTES = 65_557;

/** Returns the format of a file by its content. Throws BAD_USER_INPUT for any other content. */
export function formatOf(bytes: Buffer): PictureFormat {
  if (bytes.length === 0) throw badInput('The file is empty');
  const head = bytes.toString('latin1', 0, 4096);
  for (const [format, signature] of Object.entries(SIGNATURES))
    if (signature.test(head)) return format as PictureFormat;
  if (MARKUP.test(head)) return 'svg';
  throw badInput(`The file is not a picture of a supported type: ${SUPPORTED}`);
}

/**
 * Throws BAD_USER_INPUT if a raster file is also a file of another type: bytes after the end of the picture, markup,
 * or an archive. Cameras append further data to JPEG files, so those may have some.
 */
export function checkSingleType(bytes: Buffer, format: PictureFormat): void {
  const end = ENDS[format]?.(bytes) ?? bytes.length;
  const hasRest = bytes.subarray(end).some((byte) => byte !== 0);
  const isArchive = bytes.subarray(-ZIP_TAIL_BYTES).includes(ZIP_END, 0, 'latin1');
  if (hasRest || isArchive || PROGRAM.test(bytes.toString('latin1')))
    throw badInput('The file contains more than a picture');
}

const truncated = () => badInput('The picture is truncated');

/** Returns the offset after the chunk `IEND`. */
function endOfPng(bytes: Buffer): number {
  for (let at = 8; at + 12 <= bytes.length;) {
    const end = at + 12 + bytes.readUInt32BE(at);
    if (bytes.toString('latin1', at + 4, at + 8) === 'IEND') return end;
    at = end;
  }
  throw truncated();
}

/** Returns the offset after the RIFF container, whose length is even. */
function endOfWebp(bytes: Buffer): number {
  const length = bytes.readUInt32LE(4);
  if (bytes.length < 8 + length) throw truncated();
  return 8 + length + (length % 2);
}

/** Returns the offset after the trailer of a GIF. */
function endOfGif(bytes: Buffer): number {
  const byteAt = (offset: number): number => {
    const byte = bytes[offset];
    if (byte === undefined) throw truncated();
    return byte;
  };
  const afterColors = (offset: number, flags: number) => (flags & 0x80 ? offset + 3 * 2 ** ((flags & 7) + 1) : offset);
  const afterBlocks = (offset: number): number => {
    let at = offset;
    while (byteAt(at) !== 0) at += byteAt(at) + 1;
    return at + 1;
  };
  let at = afterColors(13, byteAt(10));
  for (;;) {
    const block = byteAt(at);
    if (block === 0x3b) return at + 1;
    if (block === 0x21) at = afterBlocks(at + 2);
    else if (block === 0x2c) at = afterBlocks(afterColors(at + 10, byteAt(at + 9)) + 1);
    else throw badInput('The picture is damaged');
  }
}

/** By format, the function that returns the offset after the picture. */
const ENDS: Partial<Record<PictureFormat, (bytes: Buffer) => number>> = {
  png: endOfPng,
  webp: endOfWebp,
  gif: endOfGif,
};
