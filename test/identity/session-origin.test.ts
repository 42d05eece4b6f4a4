import { describe, expect } from 'vitest';
import { Client } from '../support/client.ts';
import { expectBody, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { startService } from '../support/service.ts';

type Headers = Record<string, string>;

const EVIL_ORIGIN = 'https://evil.example';
const FORGERY = 'mutation { updateMe(input: { displayName: "Forged" }) { id } }';

/** A client with the session cookie alone, without headers about the origin of the request. */
const withCookieOnly = ({ url, headers }: Client) => new Client(url, { cookie: headers['cookie']! });

const displayNameOf = async (admin: Client, username: string) =>
  (await admin.get(`/users/${username}`)).body.displayName;

describe('a change with the session cookie', () => {
  const changesOf = (session: Client): Record<string, (headers: Headers) => Promise<{ status: number }>> => ({
    REST: (headers) => session.put('/me', { displayName: 'Changed' }, headers),
    GraphQL: (headers) =>
      session.request(
        'POST',
        '/graphql',
        { query: 'mutation { updateMe(input: { displayName: "Changed" }) { id } }' },
        headers,
      ),
  });

  test('must prove that it comes from the same origin', async ({ service, admin }) => {
    await service.user('mia');
    const session = withCookieOnly(await service.login('mia'));
    const ownOrigin = { origin: session.url };
    const refusedHeaders: Headers[] = [
      {},
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: EVIL_ORIGIN },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site', ...ownOrigin },
    ];
    const acceptedHeaders: Headers[] = [{ 'sec-fetch-site': 'same-origin' }, ownOrigin];
    for (const [channel, change] of Object.entries(changesOf(session))) {
      for (const headers of refusedHeaders)
        await expectStatus(change(headers), 403, `${channel} ${JSON.stringify(headers)}`);
      expect(await displayNameOf(admin, 'mia')).toBeNull();
      for (const headers of acceptedHeaders) await expectStatus(change(headers), 200, channel);
      expect(await displayNameOf(admin, 'mia')).toBe('Changed');
      await admin.put('/users/mia', { displayName: null });
    }
  });

  test('is refused without that proof, while reads are not', async ({ service }) => {
    await service.user('mila');
    const session = withCookieOnly(await service.login('mila'));
    await expectStatus(session.get('/me'), 200);
    expect(await session.data('{ me { username } }')).toEqual({ me: { username: 'mila' } });
    expect(await session.gql('mutation { logout }')).toMatchObject({
      status: 403,
      errors: [
        {
          message: 'A request with a session cookie must come from the same origin',
          extensions: { code: 'FORBIDDEN', status: 403 },
        },
      ],
    });
    await expectBody(session.post('/logout'), 403, { code: 'FORBIDDEN' });
    await expectStatus(session.get('/me'), 200);
  });

  test('is refused in the media types of HTML forms, in both APIs', async ({ service, admin }) => {
    await service.user('nora');
    const session = withCookieOnly(await service.login('nora'));
    const form = new FormData();
    form.set('operations', JSON.stringify({ query: FORGERY }));
    form.set('displayName', 'Forged');
    const text = JSON.stringify({ query: FORGERY, displayName: 'Forged' });
    const bodies: [body: FormData | string, headers: Headers][] = [
      [form, {}],
      [text, { 'content-type': 'text/plain' }],
      ['displayName=Forged', { 'content-type': 'application/x-www-form-urlencoded' }],
    ];
    const origins: Headers[] = [{}, { origin: EVIL_ORIGIN }, { origin: service.url }];
    for (const [method, path] of [
      ['POST', '/graphql'],
      ['PUT', '/api/me'],
    ] as const)
      for (const origin of origins)
        for (const [body, headers] of bodies) {
          const { status } = await session.request(method, path, body, { ...headers, ...origin });
          expect(status).toBeGreaterThanOrEqual(400);
        }
    const address = `/graphql?query=${encodeURIComponent(FORGERY)}`;
    await expectStatus(session.request('GET', address, undefined, { 'apollo-require-preflight': '1' }), 405);
    expect(await displayNameOf(admin, 'nora')).toBeNull();
  });

  test('may come from CORS_ORIGINS, and only these can read responses', async () => {
    const service = await startService({ CORS_ORIGINS: 'https://app.example, https://other.example' });
    try {
      await service.user('olga');
      const session = withCookieOnly(await service.login('olga'));
      const allowed = { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' };
      const response = await session.put('/me', { displayName: 'Olga' }, allowed);
      expect(response.status).toBe(200);
      expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example');
      expect(response.headers.get('access-control-allow-credentials')).toBe('true');
      await expectStatus(session.put('/me', { displayName: 'Evil' }, { origin: EVIL_ORIGIN }), 403);
      const refusedRead = await session.get('/me', { origin: EVIL_ORIGIN });
      expect(refusedRead.headers.get('access-control-allow-origin')).toBeNull();

      const preflight = await session.request('OPTIONS', '/api/me', undefined, {
        ...allowed,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'content-type',
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('access-control-allow-methods')).toMatch(/PUT.*DELETE/);
      const refusedPreflight = await session.request('OPTIONS', '/api/me', undefined, {
        origin: EVIL_ORIGIN,
        'access-control-request-method': 'PUT',
      });
      expect(refusedPreflight.headers.get('access-control-allow-origin')).toBeNull();
    } finally {
      await service.close();
    }
  });
});

test('a change with a bearer token needs no proof of its origin', async ({ ann, bob }) => {
  await expectStatus(ann.put('/me', { displayName: 'Ann' }), 200);
  await expectStatus(ann.put('/me', { displayName: 'Ann' }, { origin: EVIL_ORIGIN }), 200);
  expect(await bob.gql('mutation { updateMe(input: { displayName: "Bob" }) { displayName } }')).toMatchObject({
    status: 200,
    data: { updateMe: { displayName: 'Bob' } },
  });
});
