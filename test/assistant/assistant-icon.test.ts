import { createHash } from 'node:crypto';
import sharp from 'sharp';
import { describe, expect } from 'vitest';
import { dataUrlOf, getPicture, pictureForm } from '../support/avatar-fixture.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
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
  svgOf,
} from '../support/picture-files.ts';
import { recordRoundTrips } from '../support/round-trips.ts';
import { storedFiles } from '../support/upload-form.ts';

// Each picture is read in a process of its own.
const PNG = await pngOf(RED, 300, 200);
const OTHER = await pngOf(BLUE, 80, 80);
const SVG = svgOf('<rect width="64" height="64" fill="#1414dc"/>');
const SET = `mutation ($id: ID!, $file: FileContent!) {
  setAssistantIcon(id: $id, input: { file: $file }) { id iconUrl }
}`;
const DELETE = 'mutation ($id: ID!) { deleteAssistantIcon(id: $id) { id iconUrl } }';
const IMAGE = '{ contentType sha256 content }';
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

const createAssistant = (client: Client, name = 'Shop', fields: object = {}) =>
  client.creates('/assistants', { name, ...fields });
const upload = (client: Client, id: string, picture: Uint8Array | string) =>
  client.put(`/assistants/${id}/icon`, pictureForm(picture));
const iconOf = (client: Client, id: string) => getPicture(client, `/assistants/${id}/icon`);
const faviconOf = (client: Client, id: string) => getPicture(client, `/assistants/${id}/favicon.ico`);

describe('an icon', () => {
  test('is uploaded, shown and removed by REST', async ({ ann }) => {
    const created = await createAssistant(ann);
    const path = `/assistants/${created.id}`;
    expect(created.iconUrl).toMatch(new RegExp(`^/api${path}/icon\\?t=\\d{13}$`));
    expect(created._links).toMatchObject({
      'svc:icon': { href: `/api${path}/icon` },
      'svc:favicon': { href: `/api${path}/favicon.ico` },
    });
    const { bytes: former } = await iconOf(ann, created.id);

    const updated = await upload(ann, created.id, PNG);
    expect(updated).toMatchObject({ status: 200, body: { id: created.id, name: 'Shop', _links: { self: {} } } });
    expect(updated.body.iconUrl).not.toBe(created.iconUrl);
    expect(Object.keys(updated.body)).toEqual(Object.keys(created));
    const shown = await getPicture(ann, updated.body.iconUrl.slice('/api'.length));
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(nameOf(await colorAt(shown.bytes, 150, 100))).toBe('red');

    await expectStatus(ann.delete(`${path}/icon`), 204);
    const { body } = await ann.get(path);
    expect([created.iconUrl, updated.body.iconUrl]).not.toContain(body.iconUrl);
    const reverted = await iconOf(ann, created.id);
    expect(reverted.headers.get('content-type')).toBe('image/svg+xml');
    expect(reverted.bytes).toEqual(former);
    // Nothing is left to remove, and nothing changes.
    await expectStatus(ann.delete(`${path}/icon`), 204);
    expect((await ann.get(path)).body).toEqual(body);
  });

  test('is uploaded, shown and removed by GraphQL', async ({ ann }) => {
    const { id, slug } = await createAssistant(ann);
    const { setAssistantIcon } = await ann.data(SET, { id: slug, file: dataUrlOf(OTHER) });
    expect(setAssistantIcon).toEqual({
      id,
      iconUrl: expect.stringMatching(`^/api/assistants/${id}/icon\\?t=\\d{13}$`),
    });
    const { bytes } = await iconOf(ann, id);
    const favicon = (await faviconOf(ann, id)).bytes;
    expect(await ann.data(`{ assistantIcon(id: "${slug}") ${IMAGE} assistantFavicon(id: "${id}") ${IMAGE} }`)).toEqual({
      assistantIcon: { contentType: 'image/png', sha256: sha256(bytes), content: bytes.toString('base64') },
      assistantFavicon: { contentType: 'image/x-icon', sha256: sha256(favicon), content: favicon.toString('base64') },
    });
    for (const field of ['assistantIcon', 'assistantFavicon'])
      await expectGraphqlError(
        ann.gql(`{ a: ${field}(id: "${id}") { sha256 } b: ${field}(id: "${id}") { sha256 } }`),
        'BAD_USER_INPUT',
        `${field} can be requested once in a document`,
      );
    const { deleteAssistantIcon } = await ann.data(DELETE, { id });
    expect(deleteAssistantIcon.iconUrl).not.toBe(setAssistantIcon.iconUrl);
    expect((await ann.data(`{ assistantIcon(id: "${id}") { contentType } }`)).assistantIcon).toEqual({
      contentType: 'image/svg+xml',
    });
  });

  test('changes the version of the assistant, and only for the version of If-Match', async ({ service, ann }) => {
    const { id } = await createAssistant(ann);
    const versionOf = async () => ({ 'if-match': (await ann.get(`/assistants/${id}`)).headers.get('etag')! });
    const former = await versionOf();
    const { iconUrl } = (await upload(ann.with(former), id, PNG)).body;
    const files = storedFiles(service);
    await expectError(upload(ann.with(former), id, OTHER), 412);
    await expectError(ann.with(former).delete(`/assistants/${id}/icon`), 412);
    expect((await ann.get(`/assistants/${id}`)).body.iconUrl).toBe(iconUrl);
    expect(storedFiles(service)).toEqual(files);
    await expectStatus(upload(ann.with(await versionOf()), id, OTHER), 200);
    await expectStatus(ann.with(await versionOf()).delete(`/assistants/${id}/icon`), 204);
  });

  test('that is sent back in a PUT of the record is ignored', async ({ ann }) => {
    const { id } = await createAssistant(ann);
    const { body } = await upload(ann, id, PNG);
    await expectBody(ann.put(`/assistants/${id}`, { ...body, iconUrl: 'https://x.example' }), 200, {
      iconUrl: body.iconUrl,
    });
  });

  test('has a path that changes with a default icon, too', async ({ ann }) => {
    const { id, iconUrl } = await createAssistant(ann);
    expect((await ann.put(`/assistants/${id}`, { icon: 'rocket' })).body.iconUrl).not.toBe(iconUrl);
  });

  test('is read in one round trip', async ({ ann }) => {
    const { id } = await createAssistant(ann);
    await upload(ann, id, PNG);
    const trips = [
      await recordRoundTrips(() => iconOf(ann, id)),
      await recordRoundTrips(() => faviconOf(ann, id)),
      await recordRoundTrips(() => ann.get('/assistants')),
    ];
    expect(trips.map(({ length }) => length)).toEqual([1, 1, 1]);
  });
});

describe('an uploaded icon', () => {
  test.for([
    [300, 200, 300, 200],
    [1024, 512, 512, 256],
    [100, 1000, 51, 512],
    [8, 8, 8, 8],
  ] as const)('of %i by %i pixels becomes a PNG of %i by %i', async ([width, height, newWidth, newHeight], { ann }) => {
    const { id } = await createAssistant(ann);
    await expectStatus(upload(ann, id, await pngOf(RED, width, height)), 200);
    const { bytes } = await iconOf(ann, id);
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'png', width: newWidth, height: newHeight });
    expect(distanceOf(await colorAt(bytes, newWidth >> 1, newHeight >> 1), RED)).toBeLessThan(3);
  });

  test.for(['jpeg', 'webp', 'gif'] as const)('of the format %s becomes a PNG', async (format, { ann }) => {
    const { id } = await createAssistant(ann);
    await expectStatus(upload(ann, id, await rasterOf(format)), 200);
    const { headers, bytes } = await iconOf(ann, id);
    expect(headers.get('content-type')).toBe('image/png');
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'png', width: 64, height: 64 });
    expect(nameOf(await colorAt(bytes, 32, 32))).toBe('red');
  });

  test('stays transparent where it is', async ({ ann }) => {
    const { id } = await createAssistant(ann);
    const half = { r: 20, g: 20, b: 220, alpha: 0.5 };
    const source = await sharp({ create: { width: 600, height: 600, channels: 4, background: half } })
      .composite([
        {
          input: Buffer.from([220, 20, 20, 255]),
          raw: { width: 1, height: 1, channels: 4 },
          tile: true,
          blend: 'dest-out',
        },
      ])
      .png()
      .toBuffer();
    const plain = await sharp({ create: { width: 600, height: 600, channels: 4, background: half } })
      .png()
      .toBuffer();
    for (const [picture, alpha] of [
      [source, 0],
      [plain, 128],
    ] as const) {
      await expectStatus(upload(ann, id, picture), 200);
      const { bytes } = await iconOf(ann, id);
      expect((await sharp(bytes).raw().toBuffer())[3]).toBe(alpha);
      for (const { png } of readIco((await faviconOf(ann, id)).bytes))
        expect((await sharp(png).raw().toBuffer())[3]).toBe(alpha);
    }
  });

  test('is upright, its first frame, and without metadata', async ({ ann }) => {
    const { id } = await createAssistant(ann);
    await upload(ann, id, await lyingJpeg());
    const upright = (await iconOf(ann, id)).bytes;
    expect([nameOf(await colorAt(upright, 32, 10)), nameOf(await colorAt(upright, 32, 54))]).toEqual(['red', 'blue']);
    const { exif, orientation } = await sharp(upright).metadata();
    expect([exif, orientation]).toEqual([undefined, undefined]);
    await upload(ann, id, await animatedGif());
    const first = (await iconOf(ann, id)).bytes;
    expect(await sharp(first).metadata()).toMatchObject({ width: 32, height: 32 });
    expect(nameOf(await colorAt(first, 16, 16))).toBe('red');
  });

  test('of the format SVG stays one, without its links and comments', async ({ ann }) => {
    const { id } = await createAssistant(ann);
    const source = svgOf('<a href="https://x.example"><rect width="64" height="64" fill="#1414dc"/></a><!-- a -->');
    await expectStatus(upload(ann, id, source), 200);
    const { headers, bytes } = await iconOf(ann, id);
    expect(headers.get('content-type')).toBe('image/svg+xml');
    expect(bytes.toString()).toBe(
      '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64">' +
        '<rect width="64" height="64" fill="#1414dc"></rect></svg>',
    );
  });
});

describe('the favicon', () => {
  test('has the uploaded icon in three sizes, whole and in the middle', async ({ ann }) => {
    const { id } = await createAssistant(ann);
    for (const [picture, color] of [
      [PNG, 'red'],
      [await pngOf(BLUE, 30, 20), 'blue'],
      [svgOf('<rect width="60" height="40" fill="#1414dc"/>', 'width="60" height="40"'), 'blue'],
    ] as const) {
      await expectStatus(upload(ann, id, picture), 200);
      const { status, headers, bytes } = await faviconOf(ann, id);
      expect([status, headers.get('content-type')]).toEqual([200, 'image/x-icon']);
      const pictures = readIco(bytes);
      expect(pictures.map(({ size }) => size)).toEqual([16, 32, 48]);
      for (const { size, png } of pictures) {
        const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
        expect(info).toMatchObject({ width: size, height: size, channels: 4 });
        const alphaAt = (row: number) => data[(row * size + (size >> 1)) * 4 + 3];
        // The picture is three to two, so a sixth of the square above and below it is transparent.
        expect([alphaAt(0), alphaAt(size >> 1), alphaAt(size - 1)]).toEqual([0, 255, 0]);
        expect(nameOf(await colorAt(png, size >> 1, size >> 1))).toBe(color);
      }
    }
  });

  test('has the default icon without an uploaded one, and follows it', async ({ ann }) => {
    const { id } = await createAssistant(ann, 'Zed');
    const first = (await faviconOf(ann, id)).bytes;
    const [icon] = readIco(first).slice(-1);
    const svg = await sharp((await iconOf(ann, id)).bytes)
      .resize(48)
      .png()
      .toBuffer();
    expect(distanceOf(await colorAt(icon!.png, 4, 24), await colorAt(svg, 4, 24))).toBeLessThan(6);
    expect((await faviconOf(ann, id)).bytes).toEqual(first);
    await ann.put(`/assistants/${id}`, { icon: 'rocket' });
    expect((await faviconOf(ann, id)).bytes).not.toEqual(first);
    await upload(ann, id, SVG);
    expect(nameOf(await colorAt(readIco((await faviconOf(ann, id)).bytes)[1]!.png, 16, 16))).toBe('blue');
    await ann.delete(`/assistants/${id}/icon`);
    await ann.put(`/assistants/${id}`, { icon: null });
    expect((await faviconOf(ann, id)).bytes).toEqual(first);
  });
});

describe('the response with an icon or a favicon', () => {
  const SAFETY = {
    'cache-control': 'private, no-cache',
    'content-security-policy': `default-src 'none'; img-src data:; frame-ancestors 'none'; sandbox`,
    'cross-origin-resource-policy': 'same-site',
    'x-content-type-options': 'nosniff',
  };

  for (const picture of [undefined, PNG, SVG])
    test(`of ${picture === undefined ? 'no' : picture === PNG ? 'a PNG' : 'an SVG'} upload is harmless, has an ETag, and is \
304 with it`, async ({ ann }) => {
      const { id } = await createAssistant(ann);
      if (picture) await expectStatus(upload(ann, id, picture), 200);
      for (const path of [`/assistants/${id}/icon`, `/assistants/${id}/icon?t=5`, `/assistants/${id}/favicon.ico`]) {
        const { headers, bytes } = await getPicture(ann, path);
        expect(Object.fromEntries(headers)).toMatchObject(SAFETY);
        const etag = headers.get('etag')!;
        expect(etag).toBe(`"${sha256(bytes)}"`);
        for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
          const unchanged = await getPicture(ann, path, { 'if-none-match': known });
          expect([unchanged.status, unchanged.bytes.length, unchanged.headers.get('etag')]).toEqual([304, 0, etag]);
          expect(Object.fromEntries(unchanged.headers)).toMatchObject(SAFETY);
        }
        expect((await getPicture(ann, path, { 'if-none-match': '"other"' })).status).toBe(200);
        const head = await getPicture(ann, path, {}, 'HEAD');
        expect([head.status, head.bytes.length, head.headers.get('etag')]).toEqual([200, 0, etag]);
      }
    });

  test('is 400 for a t that is not an integer, and for unknown parameters', async ({ ann }) => {
    const { id } = await createAssistant(ann);
    for (const t of ['x', '', '1.5', '1&t=2'])
      await expectError(ann.get(`/assistants/${id}/icon?t=${t}`), 400, /\bt\b/);
    await expectError(ann.get(`/assistants/${id}/icon?size=9`), 400, /size/);
    await expectError(ann.get(`/assistants/${id}/favicon.ico?t=9`), 400, /\bt\b/);
  });
});
