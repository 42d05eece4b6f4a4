import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, test, vi } from 'vitest';
import { preparePicture } from '../../src/adapters/pictures/pictures.ts';
import type { PictureShape, PictureSource } from '../../src/core/pictures.ts';
import {
  animatedGif,
  BLUE,
  colorAt,
  lyingJpeg,
  nameOf,
  pngOf,
  rasterOf,
  RED,
  svgOf,
} from '../support/picture-files.ts';

// Each picture is read in a process of its own.
vi.setConfig({ testTimeout: 60_000 });

const CALLER = { tenantId: 'tenant', userId: 'user' };
const COVER: PictureShape = { fit: 'cover', size: 256 };
const INSIDE: PictureShape = { fit: 'inside', size: 512 };

const prepare = (source: PictureSource, shapes = [COVER]) =>
  preparePicture(source, shapes, CALLER, new AbortController().signal);
const drawOne = async (source: PictureSource, shape = COVER) => (await prepare(source, [shape])).drawn[0]!;

/** Returns format, width and height of a picture. */
async function facts(bytes: Uint8Array): Promise<[string, number, number]> {
  const { format, width, height } = await sharp(bytes).metadata();
  return [format, width, height];
}

describe('a picture', () => {
  test.each(['png', 'jpeg', 'webp', 'gif'] as const)('of the format %s is recognised and drawn', async (format) => {
    const picture = await prepare(await rasterOf(format));
    expect([picture.format, picture.sanitized]).toEqual([format, null]);
    expect(await facts(picture.drawn[0]!)).toEqual(['webp', 256, 256]);
    expect(nameOf(await colorAt(picture.drawn[0]!, 128, 128))).toBe('red');
  });

  test('can be read from a stored file', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'dws-picture-'));
    const path = join(dir, 'picture');
    writeFileSync(path, await rasterOf('png'));
    expect(await facts(await drawOne(path))).toEqual(['webp', 256, 256]);
    rmSync(dir, { recursive: true });
  });

  test('is drawn in several shapes, without being enlarged inside one', async () => {
    const { drawn } = await prepare(await pngOf(RED, 1000, 400), [COVER, INSIDE]);
    expect(await Promise.all(drawn.map(facts))).toEqual([
      ['webp', 256, 256],
      ['png', 512, 205],
    ]);
    expect(await facts(await drawOne(await pngOf(RED, 100, 40), INSIDE))).toEqual(['png', 100, 40]);
  });

  test('is drawn upright', async () => {
    const drawn = await drawOne(await lyingJpeg());
    expect(nameOf(await colorAt(drawn, 128, 40))).toBe('red');
    expect(nameOf(await colorAt(drawn, 128, 215))).toBe('blue');
  });

  test('that is animated is drawn with its first frame', async () => {
    const gif = await animatedGif();
    expect((await sharp(gif).metadata()).pages).toBe(2);
    const drawn = await drawOne(gif);
    expect((await sharp(drawn).metadata()).pages ?? 1).toBe(1);
    expect(nameOf(await colorAt(drawn, 128, 128))).toBe('red');
  });

  test('loses its metadata', async () => {
    const photo = await sharp(await pngOf(RED))
      .withExif({ IFD0: { Copyright: 'home address' } })
      .jpeg()
      .toBuffer();
    expect(photo.includes('home address')).toBe(true);
    expect(Buffer.from(await drawOne(photo)).includes('home address')).toBe(false);
  });

  test('is the same, byte for byte, when it is drawn again', async () => {
    const source = Buffer.from(svgOf('<circle cx="32" cy="32" r="30" fill="red"/>'));
    expect(await drawOne(source)).toEqual(await drawOne(source));
  });

  test('of a camera may have further data after a JPEG', async () => {
    const photo = Buffer.concat([await rasterOf('jpeg'), Buffer.from('SEFT trailer of a camera')]);
    expect((await prepare(photo)).format).toBe('jpeg');
  });
});

describe('an SVG', () => {
  test('is sanitised and drawn in the size in which it is needed', async () => {
    const half = '<rect width="12" height="24" fill="#dc1414"/><rect x="12" width="12" height="24" fill="#1414dc"/>';
    const source = Buffer.from(svgOf(`${half}<unknown/>`, 'width="24" height="24"'));
    const { format, sanitized, drawn } = await prepare(source, [COVER, INSIDE]);
    expect(format).toBe('svg');
    expect(Buffer.from(sanitized!).toString()).not.toContain('unknown');
    expect(await Promise.all(drawn.map(facts))).toEqual([
      ['webp', 256, 256],
      ['png', 512, 512],
    ]);
    // An enlarged raster picture would be mixed here.
    expect(await colorAt(drawn[1]!, 254, 200)).toEqual(RED);
    expect(await colorAt(drawn[1]!, 257, 200)).toEqual(BLUE);
  });

  test('with an embedded picture shows it', async () => {
    const embedded = (await pngOf(BLUE)).toString('base64');
    const source = svgOf(`<image width="64" height="64" href="data:image/png;base64,${embedded}"/>`);
    expect(nameOf(await colorAt(await drawOne(Buffer.from(source)), 128, 128))).toBe('blue');
  });
});

test('the process of a picture ends when its request does', async () => {
  const request = new AbortController();
  const reading = preparePicture(await rasterOf('png'), [COVER], CALLER, request.signal);
  request.abort(new Error('The client left'));
  await expect(reading).rejects.toThrow('The client left');
});
