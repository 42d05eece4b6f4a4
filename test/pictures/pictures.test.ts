import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { drawPicture } from '../../src/adapters/pictures/draw.ts';
import { preparePicture } from '../../src/adapters/pictures/pictures.ts';
import type { PictureSource } from '../../src/core/pictures.ts';
import { readIco } from '../support/ico.ts';
import {
  animatedGif,
  BLUE,
  colorAt,
  distanceOf,
  lyingJpeg,
  nameOf,
  pngOf,
  rasterOf,
  RED,
  svgBomb,
  svgOf,
} from '../support/picture-files.ts';
import { awaitPictureProcess, pictureProcesses } from '../support/picture-processes.ts';

// Each picture is read in a process of its own.
const CALLER = { tenantId: 'tenant', userId: 'user' };

const SQUARE = { square: { as: 'square', size: 256 } } as const;
const prepare = (source: PictureSource) => preparePicture(source, SQUARE, CALLER, new AbortController().signal);
const drawOne = async (source: PictureSource) => (await prepare(source)).drawn.square;

/** Returns format, width and height of a picture. */
async function facts(bytes: Uint8Array): Promise<[string, number, number]> {
  const { format, width, height } = await sharp(bytes).metadata();
  return [format, width, height];
}

describe('a picture', () => {
  test.each(['png', 'jpeg', 'webp', 'gif'] as const)('of the format %s is recognised and drawn', async (format) => {
    const picture = await prepare(await rasterOf(format));
    expect([picture.format, picture.sanitized]).toEqual([format, null]);
    expect(await facts(picture.drawn.square)).toEqual(['webp', 256, 256]);
    expect(nameOf(await colorAt(picture.drawn.square, 128, 128))).toBe('red');
  });

  test('can be read from a stored file', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'dws-picture-'));
    const path = join(dir, 'picture');
    writeFileSync(path, await rasterOf('png'));
    expect(await facts(await drawOne(path))).toEqual(['webp', 256, 256]);
    rmSync(dir, { recursive: true });
  });

  test.each([
    [1000, 400],
    [30, 40],
  ])('of %i by %i pixels is drawn as a square', async (width, height) => {
    expect(await facts(await drawOne(await pngOf(RED, width, height)))).toEqual(['webp', 256, 256]);
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
    const {
      format,
      sanitized,
      drawn: { square: drawn },
    } = await prepare(source);
    expect(format).toBe('svg');
    expect(Buffer.from(sanitized!).toString()).not.toContain('unknown');
    expect(await facts(drawn)).toEqual(['webp', 256, 256]);
    // The colours of an enlarged raster picture would be mixed here.
    expect(distanceOf(await colorAt(drawn, 126, 200), RED)).toBeLessThan(40);
    expect(distanceOf(await colorAt(drawn, 129, 200), BLUE)).toBeLessThan(40);
  });

  test.each(['width="10000" height="10"', 'width="10" height="10000"', 'width="3000" height="0.5"'])(
    'with %s is drawn whole, although it is thin',
    async (size) => {
      const source = Buffer.from(svgOf('<rect width="100%" height="100%" fill="#dc1414"/>', size));
      const drawings = { icon: { as: 'whole', maxSize: 512 }, favicon: { as: 'ico', sizes: [16, 48] } } as const;
      const { sanitized, drawn } = await preparePicture(source, drawings, CALLER, new AbortController().signal);
      expect(Buffer.from(drawn.icon)).toEqual(Buffer.from(sanitized!));
      for (const { png } of readIco(Buffer.from(drawn.favicon)))
        expect((await sharp(png).stats()).channels[3]!.max).toBeGreaterThan(100);
    },
  );

  test('with an embedded picture shows it', async () => {
    const embedded = (await pngOf(BLUE)).toString('base64');
    const source = svgOf(`<image width="64" height="64" href="data:image/png;base64,${embedded}"/>`);
    expect(nameOf(await colorAt(await drawOne(Buffer.from(source)), 128, 128))).toBe('blue');
  });
});

describe('the process of a picture', () => {
  /** Starts to read a picture that takes long. Returns the process that reads it. */
  async function startReading(signal: AbortSignal) {
    const reading = preparePicture(Buffer.from(svgBomb()), SQUARE, CALLER, signal);
    reading.catch(() => {});
    return { reading, pid: await awaitPictureProcess() };
  }

  test('ends when the request does', async () => {
    const request = new AbortController();
    const { reading, pid } = await startReading(request.signal);
    request.abort(new Error('The client left'));
    await expect(reading).rejects.toThrow('The client left');
    await expect.poll(pictureProcesses).not.toContain(pid);
  });

  test('that ends unexpectedly is a failure of the service, not of the picture', async () => {
    const { reading, pid } = await startReading(new AbortController().signal);
    process.kill(pid, 'SIGKILL');
    await expect(reading).rejects.toMatchObject({
      status: 500,
      code: 'UPSTREAM_FAILED',
      message: 'The picture could not be read: its process ended unexpectedly',
      cause: { message: expect.stringMatching(/^SIGKILL: /) },
    });
  });

  test('without a loader is a failure of the service, and a damaged WebP is not', async () => {
    const [png, webp] = [await rasterOf('png'), await rasterOf('webp')];
    sharp.block({ operation: ['VipsForeignLoadPng'] });
    try {
      await expect(drawPicture(png, SQUARE)).rejects.toThrow(/^Input buffer contains unsupported image format$/);
    } finally {
      sharp.unblock({ operation: ['VipsForeignLoadPng'] });
    }
    expect((await drawPicture(png, SQUARE)).format).toBe('png');
    await expect(drawPicture(webp.fill(0, 12, 20), SQUARE)).rejects.toMatchObject({ status: 400 });
  });
});
