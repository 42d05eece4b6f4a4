import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';

/* Pictures for tests, harmless and hostile. */

/** Two colours that remain different after lossy compression. */
export const RED = { r: 220, g: 20, b: 20 };
export const BLUE = { r: 20, g: 20, b: 220 };

type Rgb = typeof RED;

/** Begins a picture of one colour. */
const plain = (width: number, height: number, background: Rgb) =>
  sharp({ create: { width, height, channels: 3, background } });

/** Creates a PNG of one colour. */
export const pngOf = (color: Rgb, width = 64, height = 64): Promise<Buffer> =>
  plain(width, height, color).png().toBuffer();

/** Creates a picture in a raster format. */
export const rasterOf = (format: 'png' | 'jpeg' | 'webp' | 'gif', color: Rgb = RED): Promise<Buffer> =>
  plain(64, 64, color).toFormat(format).toBuffer();

/** Creates a JPEG that is red above blue when it is shown upright, as its EXIF orientation says; it is stored lying. */
export async function lyingJpeg(): Promise<Buffer> {
  const upright = await plain(64, 64, RED)
    .composite([{ input: await pngOf(BLUE, 64, 32), top: 32, left: 0 }])
    .png()
    .toBuffer();
  const lying = await sharp(upright).rotate(270).png().toBuffer();
  return sharp(lying).withMetadata({ orientation: 6 }).jpeg().toBuffer();
}

/** Creates an animated GIF: a red frame, then a blue one. */
export async function animatedGif(): Promise<Buffer> {
  const frames = await plain(32, 64, RED)
    .composite([{ input: await pngOf(BLUE, 32, 32), top: 32, left: 0 }])
    .removeAlpha()
    .raw()
    .toBuffer();
  return sharp(frames, { raw: { width: 32, height: 64, channels: 3, pageHeight: 32 } })
    .gif({ delay: [100, 100] })
    .toBuffer();
}

/** Returns the colour of a pixel. */
export async function colorAt(picture: Uint8Array, left: number, top: number): Promise<Rgb> {
  const [r, g, b] = await sharp(picture).removeAlpha().extract({ left, top, width: 1, height: 1 }).raw().toBuffer();
  return { r: r!, g: g!, b: b! };
}

/** Returns the sum of the differences of two colours. */
export const distanceOf = (one: Rgb, other: Rgb): number =>
  Math.abs(one.r - other.r) + Math.abs(one.g - other.g) + Math.abs(one.b - other.b);

/** Returns which of the two colours a colour is near. */
export const nameOf = ({ r, b }: Rgb): 'red' | 'blue' => (r > b ? 'red' : 'blue');

function chunkOf(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const content = Buffer.concat([Buffer.from(type), data]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, checksum]);
}

/** Creates a small PNG of `side` by `side` pixels, by default 400 million. */
export function pngBomb(side = 20_000): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // One bit of grey for each pixel.
  header[8] = 1;
  const rows = Buffer.alloc((1 + Math.ceil(side / 8)) * side);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  const data = deflateSync(rows, { level: 9 });
  return Buffer.concat([signature, chunkOf('IHDR', header), chunkOf('IDAT', data), chunkOf('IEND', Buffer.alloc(0))]);
}

/** Creates an SVG with this content. */
export const svgOf = (content: string, attributes = 'width="64" height="64"'): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${content}</svg>`;

/** Creates an SVG that takes seconds to read and cannot be drawn: 10 copies of 10 copies, and so on. */
export function svgBomb(): string {
  const levels = Array.from(
    { length: 40 },
    (_, n) => `<g id="l${n + 1}">${`<use href="#l${n}"/>`.repeat(10)}</g>`,
  ).join('');
  return svgOf(`<defs><rect id="l0" width="9" height="9" opacity=".5"/>${levels}</defs><use href="#l40"/>`);
}

/** Creates an SVG of 1 MB whose allowed parts have 6 MB: each of its quotation marks is written as `&quot;`. */
export const growingSvg = (): string => svgOf(`<text id='${'"'.repeat(1_000_000)}'/>`);

/** Returns uploads other than harmless pictures, with the messages of their refusal by 400. */
export async function hostilePictures(): Promise<[Buffer | string, RegExp][]> {
  const png = await pngOf(RED);
  return [
    ['', /empty/],
    ['a,b\n', /not a picture/],
    [png.subarray(0, 50), /truncated/],
    [Buffer.concat([png, Buffer.from('<script>')]), /more than a picture/],
    [svgOf('<script>alert(1)</script>'), /element script/],
    [svgOf('<rect onload="alert(1)"/>'), /attribute onload/],
    [`<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>${svgOf('<text>&a;</text>')}`, /entities/],
    [svgOf('<image href="https://x.example/a.png"/>'), /another file/],
    [svgOf('', 'width="100000" height="100000"'), /pixels/],
    [pngBomb(), /pixels/],
  ];
}
