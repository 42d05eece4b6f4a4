import { createHash } from 'node:crypto';
import sharp from 'sharp';
import { describe, expect } from 'vitest';
import { dataUrlOf, getPicture, pictureForm } from '../support/avatar-fixture.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { BLUE, colorAt, nameOf, pngOf, rasterOf, RED, svgOf } from '../support/picture-files.ts';
import { recordRoundTrips } from '../support/round-trips.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { storedFiles } from '../support/upload-form.ts';

// Each picture is read in a process of its own.
const PNG = await pngOf(RED, 300, 200);
const OTHER = await pngOf(BLUE, 80, 80);
const SET = `mutation ($username: String!, $file: FileContent!) {
  setAvatar(username: $username, input: { file: $file }) { id username avatarUrl }
}`;
const DELETE = `mutation ($username: String!) { deleteAvatar(username: $username) { id avatarUrl } }`;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const AVATAR_URL = /^\/api\/users\/[0-9a-f-]{36}\/avatar\?t=\d{13}$/;

describe('an avatar', () => {
  test('is set, shown to callers without credentials and removed by REST', async ({ ann, anonymous }) => {
    const response = await ann.put('/users/ann/avatar', pictureForm(PNG));
    expect(response).toMatchObject({ status: 200 });
    expect(response.body).toEqual({ username: 'ann', avatarUrl: expect.stringMatching(AVATAR_URL) });
    const { avatarUrl } = response.body;
    expect(avatarUrl).toContain(ann.id);

    const { status, headers, bytes } = await getPicture(anonymous, avatarUrl.slice('/api'.length));
    expect([status, headers.get('content-type')]).toEqual([200, 'image/webp']);
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'webp', width: 256, height: 256 });
    expect(nameOf(await colorAt(bytes, 128, 128))).toBe('red');

    expect(await ann.delete('/users/ann/avatar')).toMatchObject({ status: 204, body: '' });
    expect((await getPicture(anonymous, `/users/${ann.id}/avatar`)).bytes).not.toEqual(bytes);
    expect((await ann.get('/me')).body.avatarUrl).toBe(`/api/users/${ann.id}/avatar`);
    await expectStatus(ann.delete('/users/ann/avatar'), 204);
  });

  test('is set, read and removed by GraphQL', async ({ ann, anonymous }) => {
    const { setAvatar } = await ann.data(SET, { username: ann.id, file: dataUrlOf(PNG) });
    expect(setAvatar).toEqual({ id: ann.id, username: 'ann', avatarUrl: expect.stringMatching(AVATAR_URL) });
    const image = '{ contentType content sha256 }';
    const { avatar } = await anonymous.data(`{ avatar(username: "ANN", t: 1) ${image} }`);
    const { bytes } = await getPicture(anonymous, '/users/ann/avatar');
    expect(avatar).toEqual({ contentType: 'image/webp', content: bytes.toString('base64'), sha256: sha256(bytes) });
    const { originalAvatar } = await ann.data(`{ originalAvatar(username: "ann") ${image} }`);
    expect(originalAvatar).toEqual({ contentType: 'image/png', content: PNG.toString('base64'), sha256: sha256(PNG) });
    await expectGraphqlError(
      ann.gql(`{ a: originalAvatar(username: "ann") ${image} b: originalAvatar(username: "ann") ${image} }`),
      'BAD_USER_INPUT',
      'originalAvatar can be requested once in a document',
    );
    expect(await ann.data(DELETE, { username: 'ann' })).toEqual({
      deleteAvatar: { id: ann.id, avatarUrl: `/api/users/${ann.id}/avatar` },
    });
    expect(await ann.data(`{ originalAvatar(username: "ann") ${image} }`)).toEqual({ originalAvatar: null });
  });

  test('changes the version of the user, and is in every record and list without further statements', async ({
    service,
    admin,
  }) => {
    const eve = await service.user('eve');
    const { headers } = await eve.get('/users/eve');
    const { avatarUrl } = (await eve.put('/users/eve/avatar', pictureForm(PNG))).body;
    expect((await eve.get('/users/eve', { 'if-none-match': headers.get('etag')! })).status).toBe(200);
    const isEve = ({ username }: { username: string }) => username === 'eve';
    const trips = await recordRoundTrips(async () => {
      expect((await admin.get('/users?limit=1000')).body._embedded['svc:user'].find(isEve)).toMatchObject({
        avatarUrl,
      });
    });
    expect(trips).toHaveLength(1);
    expect((await admin.get('/users-list')).body.find(isEve)).toMatchObject({ avatarUrl });
    expect((await eve.get('/me')).body).toMatchObject({ avatarUrl });
    expect((await eve.get('/users/eve')).body).toMatchObject({
      avatarUrl,
      _links: {
        'svc:avatar': { href: '/api/users/eve/avatar' },
        'svc:avatar-full': { href: '/api/users/eve/avatar-full' },
      },
    });
    expect((await admin.get('/users/admin')).body._links).not.toHaveProperty('svc:avatar-full');
    expect(await admin.data('{ user(username: "eve") { avatarUrl } }')).toEqual({ user: { avatarUrl } });
  });

  test('is changed only while the user has the version of If-Match', async ({ service }) => {
    const ivy = await service.user('ivy');
    const versionOf = async () => ({ 'if-match': (await ivy.get('/users/ivy')).headers.get('etag')! });
    const former = await versionOf();
    const { avatarUrl } = (await ivy.with(former).put('/users/ivy/avatar', pictureForm(PNG))).body;
    const files = storedFiles(service);
    await expectError(ivy.with(former).put('/users/ivy/avatar', pictureForm(OTHER)), 412);
    await expectError(ivy.with(former).delete('/users/ivy/avatar'), 412);
    expect((await ivy.get('/me')).body.avatarUrl).toBe(avatarUrl);
    expect(storedFiles(service)).toEqual(files);
    await expectStatus(ivy.with(await versionOf()).put('/users/ivy/avatar', pictureForm(OTHER)), 200);
    await expectStatus(ivy.with(await versionOf()).delete('/users/ivy/avatar'), 204);
  });

  test('that is sent back in a PUT of the record is ignored', async ({ ann }) => {
    const { body } = await ann.get('/me');
    await expectBody(ann.put('/me', { ...body, avatarUrl: 'https://x.example' }), 200, { avatarUrl: body.avatarUrl });
  });

  test('is written in few round trips', async ({ ann, admin }) => {
    await ann.put('/users/ann/avatar', pictureForm(PNG));
    const own = await recordRoundTrips(() => ann.put('/users/ann/avatar', pictureForm(PNG)));
    const others = await recordRoundTrips(() => admin.put('/users/ann/avatar', pictureForm(PNG)));
    const deletion = await recordRoundTrips(() => ann.delete('/users/ann/avatar'));
    expect([own.length, others.length, deletion.length]).toEqual([3, 4, 3]);
  });
});

describe('the default avatar', () => {
  test('is the same, byte for byte, for users without one, unknown users and tenants', async ({ bob, anonymous }) => {
    const { status, bytes } = await getPicture(anonymous, '/users/bob/avatar');
    expect(status).toBe(200);
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'webp', width: 256, height: 256 });
    for (const path of [
      `/users/${bob.id}/avatar?t=5`,
      '/users/unknown/avatar',
      `/users/${UNKNOWN_ID}/avatar`,
      '/users/%00/avatar',
      `/users/${'x'.repeat(400)}/avatar`,
      '/users/ann%20or%201=1/avatar',
      '/users/bob/avatar?tenant=unknown',
      '/users/bob/avatar?tenant=%27',
    ])
      expect((await getPicture(anonymous, path)).bytes, path).toEqual(bytes);
  });
});

describe('the tenant of an avatar', () => {
  test('is the tenant of the caller, else the named one, else the default, and any for an id', async ({
    service,
    ann,
    stranger,
    anonymous,
  }) => {
    const twin = await service.user('twin');
    const otherTwin = await service.user('twin', { tenant: 'other' });
    await twin.put('/users/twin/avatar', pictureForm(PNG));
    await otherTwin.put('/users/twin/avatar', pictureForm(OTHER));
    const colorOf = async (client: typeof ann, path: string) =>
      nameOf(await colorAt((await getPicture(client, path)).bytes, 128, 128));
    expect(await colorOf(ann, '/users/twin/avatar')).toBe('red');
    expect(await colorOf(stranger, '/users/twin/avatar')).toBe('blue');
    expect(await colorOf(stranger, '/users/twin/avatar?tenant=default')).toBe('blue');
    expect(await colorOf(anonymous, '/users/twin/avatar')).toBe('red');
    expect(await colorOf(anonymous, '/users/TWIN/avatar?tenant=other')).toBe('blue');
    expect(await colorOf(anonymous, `/users/${otherTwin.id.toUpperCase()}/avatar`)).toBe('blue');
    expect(await colorOf(stranger, `/users/${twin.id}/avatar`)).toBe('red');
    // No other route finds users of another tenant.
    await expectStatus(stranger.get(`/users/${twin.id}/avatar-full`), 404);
    await expectStatus(stranger.put(`/users/${twin.id}/avatar`, pictureForm(OTHER)), 404);
    await expectStatus(stranger.delete(`/users/${twin.id}/avatar`), 404);
    await expectGraphqlError(stranger.gql(SET, { username: twin.id, file: dataUrlOf(OTHER) }), 'NOT_FOUND');
    await expectGraphqlError(stranger.gql(DELETE, { username: twin.id }), 'NOT_FOUND');
    expect(await colorOf(anonymous, `/users/${twin.id}/avatar`)).toBe('red');
  });
});

describe('the response with an avatar', () => {
  const SAFETY = {
    'x-content-type-options': 'nosniff',
    'content-security-policy': `default-src 'none'; img-src data:; frame-ancestors 'none'; sandbox`,
  };
  const headersOf = (headers: Headers, names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, headers.get(name)]));

  test('can be kept for a year with its own t, else for a minute, and only by the caller for a username', async ({
    ann,
    anonymous,
  }) => {
    const cacheOf = async (path: string) => {
      const { headers } = await getPicture(anonymous, path);
      return [headers.get('cache-control'), headers.get('vary')?.includes('cookie') ?? false];
    };
    const { avatarUrl: former } = (await ann.put('/users/ann/avatar', pictureForm(OTHER))).body;
    const { avatarUrl } = (await ann.put('/users/ann/avatar', pictureForm(PNG))).body;
    const current = avatarUrl.slice('/api'.length);
    const t = avatarUrl.split('?t=')[1];
    expect(await cacheOf(current)).toEqual(['public, max-age=31536000, immutable', false]);
    expect(await cacheOf(`/users/ann/avatar?t=${t}`)).toEqual(['private, max-age=31536000, immutable', true]);
    expect(await cacheOf('/users/ann/avatar')).toEqual(['private, max-age=60', true]);
    // A cache must not keep the picture at the address of a former avatar, or of one that does not exist yet.
    for (const path of [former.slice('/api'.length), `/users/${ann.id}/avatar`, `/users/${ann.id}/avatar?t=${+t + 1}`])
      expect(await cacheOf(path)).toEqual(['public, max-age=60', false]);
    const { etag } = Object.fromEntries((await getPicture(anonymous, current)).headers);
    const unchanged = await getPicture(anonymous, current, { 'if-none-match': etag! });
    expect([unchanged.status, unchanged.headers.get('cache-control')]).toEqual([
      304,
      'public, max-age=31536000, immutable',
    ]);
    const byGraphql = `{ current: avatar(username: "ann", t: ${t}) { immutable } other: avatar(username: "ann", t: 1) {
      immutable
    } }`;
    expect(await ann.data(byGraphql)).toEqual({ current: { immutable: true }, other: { immutable: false } });
    await ann.delete('/users/ann/avatar');
    expect(await cacheOf(current)).toEqual(['public, max-age=60', false]);
  });

  test('can be shown by pages of other origins, and is harmless when it is opened', async ({ ann, anonymous }) => {
    await ann.put('/users/ann/avatar', pictureForm(PNG));
    const names = [...Object.keys(SAFETY), 'cross-origin-resource-policy'];
    for (const path of [`/users/${ann.id}/avatar`, '/users/unknown/avatar'])
      expect(headersOf((await getPicture(anonymous, path)).headers, names)).toEqual({
        ...SAFETY,
        'cross-origin-resource-policy': 'cross-origin',
      });
    expect(headersOf((await getPicture(ann, '/users/ann/avatar-full')).headers, names)).toEqual({
      ...SAFETY,
      'cross-origin-resource-policy': 'same-site',
    });
  });

  test('has an ETag, with which it is 304, and a HEAD without bytes', async ({ ann }) => {
    await ann.put('/users/ann/avatar', pictureForm(PNG));
    for (const path of ['/users/ann/avatar', '/users/ann/avatar-full', '/users/unknown/avatar']) {
      const full = path === '/users/unknown/avatar' ? '/users/unknown/avatar?t=1' : path;
      const { headers, bytes } = await getPicture(ann, full);
      const etag = headers.get('etag')!;
      expect(etag).toBe(`"${sha256(bytes)}"`);
      for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
        const unchanged = await getPicture(ann, full, { 'if-none-match': known });
        expect([unchanged.status, unchanged.bytes.length, unchanged.headers.get('etag')]).toEqual([304, 0, etag]);
      }
      expect((await getPicture(ann, full, { 'if-none-match': '"other"' })).status).toBe(200);
      const head = await getPicture(ann, full, {}, 'HEAD');
      expect([head.status, head.bytes.length, head.headers.get('etag')]).toEqual([200, 0, etag]);
    }
    const before = (await getPicture(ann, '/users/ann/avatar')).headers.get('etag')!;
    await ann.put('/users/ann/avatar', pictureForm(OTHER));
    expect((await getPicture(ann, '/users/ann/avatar', { 'if-none-match': before })).status).toBe(200);
  });

  test('is streamed, and not opened for a client that has it', async ({ service, ann }) => {
    await ann.put('/users/ann/avatar', pictureForm(PNG));
    const paths = ['/users/ann/avatar', '/users/ann/avatar-full'];
    const tags = [];
    for (const path of paths) {
      const { headers, bytes } = await getPicture(ann, path);
      expect(headers.get('content-length')).toBe(String(bytes.length));
      tags.push(headers.get('etag')!);
    }
    for (const id of storedFiles(service)) await service.platform.files.remove(id);
    for (const [index, path] of paths.entries())
      expect((await getPicture(ann, path, { 'if-none-match': tags[index]! })).status).toBe(304);
    await ann.delete('/users/ann/avatar');
  });

  test('is 400 for a t that is not an integer, and for unknown parameters', async ({ anonymous }) => {
    for (const t of ['x', '', '1.5', '1e400', 'NaN', '1&t=2'])
      await expectError(anonymous.get(`/users/ann/avatar?t=${t}`), 400, /\bt\b/);
    for (const t of ['0', '-1', '1795321279139']) await expectStatus(anonymous.get(`/users/ann/avatar?t=${t}`), 200);
    await expectError(anonymous.get('/users/ann/avatar?size=9'), 400, /size/);
    await expectGraphqlError(anonymous.gql('{ avatar(username: "ann", t: 1.5) { sha256 } }'), 'BAD_USER_INPUT', /^t /);
  });

  test('is the default image for invalid credentials', async ({ service, anonymous }) => {
    const wrong = anonymous.with({ authorization: 'Bearer dws_wrong' });
    expect((await getPicture(wrong, '/users/ann/avatar')).status).toBe(200);
    const readOnly = await service.user('reader', { scopes: ['read'] });
    expect((await getPicture(readOnly, '/users/ann/avatar')).status).toBe(200);
  });
});

describe('the original of an avatar', () => {
  const FORMATS = { png: 'image/png', jpeg: 'image/jpeg', webp: 'image/webp', gif: 'image/gif' } as const;

  for (const [format, type] of Object.entries(FORMATS))
    test(`of the format ${format} is returned with its bytes to all users of the tenant`, async ({ ann, bob }) => {
      const picture = await rasterOf(format as keyof typeof FORMATS);
      await expectStatus(ann.put('/users/ann/avatar', pictureForm(picture)), 200);
      const { status, headers, bytes } = await getPicture(bob, '/users/ann/avatar-full');
      const facts = [status, headers.get('content-type'), headers.get('cache-control')];
      expect(facts).toEqual([200, type, 'private, no-cache']);
      expect(bytes).toEqual(picture);
    });

  test('is the allowed part of an SVG', async ({ ann }) => {
    const picture = svgOf('<a href="https://x.example"><rect width="64" height="64" fill="#1414dc"/></a><!-- a -->');
    await expectStatus(ann.put('/users/ann/avatar', pictureForm(picture)), 200);
    const { headers, bytes } = await getPicture(ann, '/users/ann/avatar-full');
    expect(headers.get('content-type')).toBe('image/svg+xml');
    expect(bytes.toString()).toBe(
      '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64">' +
        '<rect width="64" height="64" fill="#1414dc"></rect></svg>',
    );
    expect(nameOf(await colorAt((await getPicture(ann, '/users/ann/avatar')).bytes, 128, 128))).toBe('blue');
  });

  test('is 404 without one, and 401 without credentials', async ({ bob, anonymous }) => {
    await expectError(bob.get('/users/bob/avatar-full'), 404, 'There is no original avatar bob');
    await expectError(bob.get('/users/unknown/avatar-full'), 404, 'There is no user unknown');
    await expectError(anonymous.get('/users/bob/avatar-full'), 401);
    await expectGraphqlError(anonymous.gql('{ originalAvatar(username: "bob") { sha256 } }'), 'UNAUTHENTICATED');
  });
});
