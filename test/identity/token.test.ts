import { describe, expect } from 'vitest';
import { invalidateCredentials } from '../../src/services/identity/credential-invalidation.ts';
import { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

const clientWith = ({ url }: Service, token: string) => new Client(url, { authorization: `Bearer ${token}` });

describe('an API token', () => {
  test('is created in a session and returns its secret once', async ({ service, ann }) => {
    const session = await service.login('ann');
    const created = await session.post('/tokens', { name: ' nightly ' });
    await expectBody(created, 201, {
      name: 'nightly',
      scopes: ['read', 'write'],
      lastUsedAt: null,
      expiresAt: null,
      createdAt: expect.any(String),
      token: expect.stringMatching(/^dws_[\w-]{43}$/),
    });
    const { id, token, prefix } = created.body;
    expect(created.headers.get('location')).toBe(`/api/tokens/${id}`);
    expect(token.startsWith(prefix)).toBe(true);
    expect(prefix).toMatch(/^dws_.{4}$/);

    const list = (await session.get('/tokens')).body;
    const listed = list._embedded['svc:token'].find((one: { id: string }) => one.id === id);
    expect(Object.keys(listed).sort()).toEqual([
      '_links',
      'client',
      'createdAt',
      'expiresAt',
      'id',
      'lastUsedAt',
      'name',
      'prefix',
      'scopes',
    ]);
    expect(JSON.stringify(list)).not.toContain(token);
    for (const { row } of await systemQuery(service, 'select to_jsonb(t)::text as row from dws.api_token t'))
      expect(row).not.toContain(token.slice(8));
    await expectBody(clientWith(service, token).get('/me'), 200, { id: ann.id });
  });

  test('cannot create another token or change the password', async ({ ann }) => {
    await expectError(
      ann.post('/tokens', { name: 'more' }),
      403,
      'This requires a session: log in instead of using a token',
    );
    expect(await ann.gql('mutation { createToken(input: { name: "more" }) { token } }')).toMatchObject({
      status: 200,
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
    await expectGraphqlError(ann.gql('mutation { changePassword(currentPassword: "a", password: "b") }'), 'FORBIDDEN');
  });

  test('stops working when it expires', async ({ service, ann }) => {
    const session = await service.login(ann.username);
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { id, token } = await session.creates('/tokens', { name: 'for an hour', expiresAt });
    const client = clientWith(service, token);
    await expectBody(client.get('/session'), 200, { expiresAt, authMethod: 'token' });
    await systemQuery(service, `update dws.api_token set expires_at = now() - interval '1 second' where id = $1`, id);
    invalidateCredentials(service, [ann.id]);
    await expectStatus(client.get('/session'), 401);
  });

  test('cannot expire in the past', async ({ service, ann }) => {
    const session = await service.login(ann.username);
    await expectBody(session.post('/tokens', { name: 'past', expiresAt: '2020-01-01T00:00:00.000Z' }), 400, {
      validation: [{ path: ['expiresAt'] }],
    });
    await expectBody(session.post('/tokens', { name: 'never', expiresAt: 'soon' }), 400, { code: 'BAD_USER_INPUT' });
  });

  test('records its last use', async ({ service, bob }) => {
    await bob.get('/me');
    const isRecentlyUsed = async () => {
      const [token] = await systemQuery(
        service,
        `select last_used_at > now() - interval '1 minute' as used from dws.api_token where user_id = $1`,
        bob.id,
      );
      return token!['used'];
    };
    await expect.poll(isRecentlyUsed).toBe(true);
  });

  test('is deleted immediately, by its owner only', async ({ service, ann, bob, stranger }) => {
    const session = await service.login(ann.username);
    const { id, token } = await session.creates('/tokens', { name: 'short-lived' });
    const client = clientWith(service, token);
    for (const other of [bob, stranger]) await expectStatus(other.delete(`/tokens/${id}`), 404);
    await expectStatus(client.get('/me'), 200);
    await expectStatus(session.delete(`/tokens/${id}`), 204);
    await expectStatus(client.get('/me'), 401);
    await expectStatus(session.delete(`/tokens/${id}`), 404);
    await expectStatus(session.delete('/tokens/nonsense'), 404);
  });

  test('requires a name and at least one scope, and no unknown key', async ({ service, ann }) => {
    const session = await service.login(ann.username);
    for (const body of [
      {},
      { name: ' ' },
      { name: 'x'.repeat(256) },
      { name: 'a', scopes: [] },
      { name: 'a', scopes: ['admin'] },
      { name: 'a', superuser: true },
    ])
      await expectBody(session.post('/tokens', body), 400, { code: 'BAD_USER_INPUT' });
  });
});

describe('the scopes of an API token', () => {
  const MUTATION = 'mutation { updateMe(input: { displayName: "Ann" }) { displayName } }';
  const createClient = async (service: Service, session: Client, scopes: string[]) =>
    clientWith(service, (await session.creates('/tokens', { name: 'scoped', scopes })).token);

  test('`read` allows queries only, in both APIs', async ({ service, ann }) => {
    const reader = await createClient(service, await service.login(ann.username), ['read']);
    await expectStatus(reader.get('/me'), 200);
    expect(await reader.data('{ me { username } }')).toEqual({ me: { username: 'ann' } });
    await expectError(reader.put('/me', { displayName: 'Ann' }), 403, 'This token lacks the scope write');
    await expectGraphqlError(reader.gql(MUTATION), 'FORBIDDEN', 'This token lacks the scope write');
  });

  test('`write` allows mutations only, in both APIs', async ({ service, ann }) => {
    const writer = await createClient(service, await service.login(ann.username), ['write']);
    await expectStatus(writer.put('/me', { displayName: 'Ann' }), 200);
    expect(await writer.data(MUTATION)).toEqual({ updateMe: { displayName: 'Ann' } });
    await expectError(writer.get('/me'), 403, 'This token lacks the scope read');
    await expectGraphqlError(writer.gql('{ me { username } }'), 'FORBIDDEN');
  });

  test('are enum values in GraphQL inputs', async ({ service, ann }) => {
    const session = await service.login(ann.username);
    expect(await session.data('mutation { createToken(input: { name: "enum", scopes: [READ] }) { scopes } }')).toEqual({
      createToken: { scopes: ['READ'] },
    });
  });
});

describe('a bearer credential', () => {
  const UNKNOWN_TOKEN = `dws_${'A'.repeat(43)}`;

  test('that is malformed or unknown is refused', async ({ service }) => {
    for (const authorization of [
      `Bearer ${UNKNOWN_TOKEN}`,
      'Bearer dws_short',
      'Bearer',
      'Basic YW5uOnBhc3N3b3Jk',
      `bearer  ${UNKNOWN_TOKEN} `,
      `Bearer ${'x'.repeat(10_000)}`,
    ]) {
      const response = await new Client(service.url, { authorization }).get('/me');
      await expectError(response, 401, 'Missing authentication');
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  test('takes precedence over a session cookie', async ({ service, ann }) => {
    const session = await service.login(ann.username);
    await expectStatus(session.with({ authorization: `Bearer ${UNKNOWN_TOKEN}` }).get('/me'), 401);
  });
});
