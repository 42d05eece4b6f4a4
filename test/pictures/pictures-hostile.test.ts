import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { preparePicture } from '../../src/adapters/pictures/pictures.ts';
import { MAX_PIXELS } from '../../src/adapters/pictures/pixel-limit.ts';
import { pngBomb, rasterOf, RED, svgBomb, svgOf } from '../support/picture-files.ts';
import { awaitPictureProcess, pictureProcesses } from '../support/picture-processes.ts';
import { zipArchiveOf } from '../support/zip-archive.ts';

// Each picture is read in a process of its own.
const prepare = (source: Buffer) =>
  preparePicture(
    source,
    { drawn: { as: 'square', size: 256 } },
    { tenantId: 'tenant', userId: 'user' },
    new AbortController().signal,
  );

const png = await rasterOf('png');
const gif = await rasterOf('gif');
const jpeg = await rasterOf('jpeg');
const webp = await rasterOf('webp');
const noise = await sharp({
  create: { width: 300, height: 300, channels: 3, background: RED, noise: { type: 'gaussian', mean: 99, sigma: 50 } },
})
  .jpeg()
  .toBuffer();
const embeddedBomb = (count: number, side: number) =>
  svgOf(`<image href="data:image/png;base64,${pngBomb(side).toString('base64')}"/>`.repeat(count));
const comment = (text: string) =>
  Buffer.concat([
    jpeg.subarray(0, 2),
    Buffer.from([0xff, 0xfe, 0, text.length + 2]),
    Buffer.from(text),
    jpeg.subarray(2),
  ]);
const tiff = await sharp(png).tiff().toBuffer();
const avif = await sharp(png).avif().toBuffer();

describe('400 is the response to', () => {
  test.each<[string, Buffer | string, RegExp]>([
    ['an empty file', '', /is empty/],
    ['a text', 'name,colour\nann,red\n', /not a picture of a supported type/],
    ['a page', '<!doctype html><script>alert(1)</script>', /not well-formed XML/],
    ['a PDF', '%PDF-1.7\n', /not a picture of a supported type/],
    ['an archive', zipArchiveOf({ 'a.txt': 'a' }), /not a picture of a supported type/],
    ['a TIFF', tiff, /not a picture of a supported type/],
    ['an AVIF', avif, /not a picture of a supported type/],
    ['a signature without a picture', png.subarray(0, 8), /truncated/],
    ['the beginning of another format', Buffer.concat([jpeg.subarray(0, 3), png]), /damaged/],
    ['a truncated PNG', png.subarray(0, png.length - 20), /truncated/],
    ['a truncated JPEG', noise.subarray(0, noise.length / 2), /damaged/],
    ['a truncated WebP', webp.subarray(0, webp.length - 6), /truncated/],
    ['a truncated GIF', gif.subarray(0, gif.length - 3), /truncated/],
    ['400 million pixels in 50 kB', pngBomb(), new RegExp(`more than ${MAX_PIXELS} pixels`)],
    ['an SVG of 10,000 million pixels', svgOf('', 'width="100000" height="100000"'), /more than \d+ pixels/],
    ['an SVG with a large embedded picture', embeddedBomb(1, 20_000), /more than \d+ pixels/],
    ['an SVG with many embedded pictures', embeddedBomb(5, 3000), /more than \d+ pixels/],
    ['an SVG with a script', svgOf('<script>alert(1)</script>'), /element script/],
    ['an SVG that is not UTF-8', Buffer.from(svgOf('<text>é</text>'), 'latin1'), /UTF-8/],
    ['a PNG with a page after it', Buffer.concat([png, Buffer.from('<html>')]), /more than a picture/],
    ['a PNG with any bytes after it', Buffer.concat([png, Buffer.from('MZ')]), /more than a picture/],
    ['a WebP with any bytes after it', Buffer.concat([webp, Buffer.from('MZ')]), /more than a picture/],
    ['a GIF with a program after it', Buffer.concat([gif, Buffer.from('*/=1;alert(1)')]), /more than a picture/],
    ['a JPEG with an archive after it', Buffer.concat([jpeg, zipArchiveOf({ a: 'a' })]), /more than a picture/],
    ['a JPEG with a script in a comment', comment('<script>alert(1)</script>'), /more than a picture/],
    ['a JPEG with a program in a comment', comment('<?php system(1) ?>'), /more than a picture/],
    ['a JPEG with a PDF after it', Buffer.concat([jpeg, Buffer.from('%PDF-1.7')]), /more than a picture/],
  ])('%s', async (_, source, message) => {
    const refused = prepare(typeof source === 'string' ? Buffer.from(source) : source);
    await expect(refused).rejects.toMatchObject({ status: 400, message: expect.stringMatching(message) });
  });

  test('an SVG with more copies of copies than the library draws, whose process then ends', async () => {
    const reading = prepare(Buffer.from(svgBomb()));
    reading.catch(() => {});
    const pid = await awaitPictureProcess();
    // On a slow machine the limits of the process come first.
    const message = expect.stringMatching(/is damaged|needs too much memory|takes longer than 20 seconds to draw/);
    await expect(reading).rejects.toMatchObject({ status: 400, message });
    await expect.poll(pictureProcesses).not.toContain(pid);
  });
});

// A check that reads a value again from each of its characters ends with the process, after 20 seconds.
describe('no value of 1 MB takes the time of the process, such as', () => {
  const MANY = 1_000_000;
  test.each([
    ['white space in an open reference', `url(${' '.repeat(MANY)}`],
    ['white space after the target of an open reference', `url(#a${' '.repeat(MANY)}x`],
    ['open references', 'url('.repeat(MANY / 4)],
    ['open references with white space', 'url( '.repeat(MANY / 5)],
    ['open references with quotes', `url("url('`.repeat(MANY / 10).replaceAll('"', '&quot;')],
    ['a long name before a function', `${'a'.repeat(MANY)} src(x)`],
    ['white space before a function', `a${' '.repeat(MANY)}x src(x)`],
  ])('%s', async (_, value) => {
    const { sanitized } = await prepare(Buffer.from(svgOf(`<rect width="64" height="64" fill="${value}"/>`)));
    expect(Buffer.from(sanitized!).toString()).toContain('<rect width="64" height="64"></rect>');
  });
});
