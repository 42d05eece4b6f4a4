import { describe, expect } from 'vitest';
import { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import type { Service } from '../support/service.ts';

const sql = (service: Service, text: string, ...values: unknown[]) => service.platform.system.query({ text, values });
const holderOf = (service: Service, token: string) => new Client(service.url, { authorization: `Bearer ${token}` });

describe('an API token', () => {
  test('is made in a session, and its secret told this once and kept hashed', async ({ service, ann }) => {
    const session = await service.login('ann');
    const made = await session.post('/tokens', { name: ' nightly ' });
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: 'nightly',
        scopes: ['read', 'write'],
        lastUsedAt: null,
        expiresAt: null,
        createdAt: expect.any(String),
        token: expect.stringMatching(/^dws_[\w-]{43}$/),
      },
    });
    const { id, token, prefix } = made.body;
    expect(made.headers.get('location')).toBe(`/api/tokens/${id}`);
    expect(token.startsWith(prefix)).toBe(true);
    expect(prefix).toMatch(/^dws_.{4}$/);

    const list = (await session.get('/tokens')).body;
    const listed = list._embedded['svc:token'].find((one: { id: string }) => one.id === id);
    expect(Object.keys(listed).sort()).toEqual([
      '_links',
      'createdAt',
      'expiresAt',
      'id',
      'lastUsedAt',
      'name',
      'prefix',
      'scopes',
    ]);
    expect(JSON.stringify(list)).not.toContain(token);
    for (const { row } of await sql(service, 'select to_jsonb(t)::text as row from dws.api_token t'))
      expect(row).not.toContain(token.slice(8));
    expect(await holderOf(service, token).get('/me')).toMatchObject({ status: 200, body: { id: ann.id } });
  });

  test('is no means to make another, nor to change the password', async ({ ann }) => {
    expect(await ann.post('/tokens', { name: 'more' })).toMatchObject({
      status: 403,
      body: { message: 'This needs a session: log in with a password instead of a token' },
    });
    expect(await ann.gql('mutation { createToken(input: { name: "more" }) { token } }')).toMatchObject({
      status: 200,
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
    expect(await ann.gql('mutation { changePassword(currentPassword: "a", password: "b") }')).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
  });

  test('does in both APIs what its scopes say: `read` queries, `write` mutations', async ({ service, ann }) => {
    expect(ann.username).toBe('ann');
    const session = await service.login('ann');
    const [reader, writer] = await Promise.all(
      [['read'], ['write']].map(async (scopes) =>
        holderOf(service, (await session.creates('/tokens', { name: 'scoped', scopes })).token),
      ),
    );
    const change = 'mutation { updateMe(input: { displayName: "Ann" }) { displayName } }';

    expect(await reader!.get('/me')).toMatchObject({ status: 200 });
    expect(await reader!.data('{ me { username } }')).toEqual({ me: { username: 'ann' } });
    expect(await reader!.put('/me', { displayName: 'Ann' })).toMatchObject({
      status: 403,
      body: { message: 'This token lacks the scope write' },
    });
    expect(await reader!.gql(change)).toMatchObject({
      errors: [{ message: 'This token lacks the scope write', extensions: { code: 'FORBIDDEN' } }],
    });

    expect(await writer!.put('/me', { displayName: 'Ann' })).toMatchObject({ status: 200 });
    expect(await writer!.data(change)).toEqual({ updateMe: { displayName: 'Ann' } });
    expect(await writer!.get('/me')).toMatchObject({
      status: 403,
      body: { message: 'This token lacks the scope read' },
    });
    expect(await writer!.gql('{ me { username } }')).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
    expect(await session.data('mutation { createToken(input: { name: "words", scopes: [READ] }) { scopes } }')).toEqual(
      { createToken: { scopes: ['read'] } },
    );
  });

  test('stops working when it expires, and tells when that is', async ({ service, ann }) => {
    expect(ann.username).toBe('ann');
    const session = await service.login('ann');
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { id, token } = await session.creates('/tokens', { name: 'for an hour', expiresAt });
    const holder = holderOf(service, token);
    expect(await holder.get('/session')).toMatchObject({ status: 200, body: { expiresAt, authMethod: 'token' } });
    await sql(service, `update dws.api_token set expires_at = now() - interval '1 second' where id = $1`, id);
    service.platform.notifications.notifyLocally('dws_credential', ann.id);
    expect(await holder.get('/session')).toMatchObject({ status: 401 });
    expect(await session.post('/tokens', { name: 'past', expiresAt: '2020-01-01T00:00:00.000Z' })).toMatchObject({
      status: 400,
      body: { validation: [{ path: ['expiresAt'] }] },
    });
    expect(await session.post('/tokens', { name: 'never', expiresAt: 'soon' })).toMatchObject({
      status: 400,
      body: { code: 'BAD_USER_INPUT' },
    });
  });

  test('notes its last use', async ({ service, ann, bob }) => {
    expect(ann.username).toBe('ann');
    await bob.get('/me');
    await expect
      .poll(
        async () =>
          (
            await sql(
              service,
              `select last_used_at > now() - interval '1 minute' as used from dws.api_token where user_id = $1`,
              bob.id,
            )
          )[0],
      )
      .toEqual({ used: true });
  });

  test('is ended at once, by its owner alone', async ({ service, ann, bob, stranger }) => {
    expect(ann.username).toBe('ann');
    const session = await service.login('ann');
    const { id, token } = await session.creates('/tokens', { name: 'short-lived' });
    const holder = holderOf(service, token);
    for (const other of [bob, stranger]) expect(await other.delete(`/tokens/${id}`)).toMatchObject({ status: 404 });
    expect(await holder.get('/me')).toMatchObject({ status: 200 });
    expect(await session.delete(`/tokens/${id}`)).toMatchObject({ status: 204 });
    expect(await holder.get('/me')).toMatchObject({ status: 401 });
    expect(await session.delete(`/tokens/${id}`)).toMatchObject({ status: 404 });
    expect(await session.delete('/tokens/nonsense')).toMatchObject({ status: 404 });
  });

  test('needs a name, at least one scope, and nothing that is unknown', async ({ service, ann }) => {
    expect(ann.username).toBe('ann');
    const session = await service.login('ann');
    for (const body of [
      {},
      { name: ' ' },
      { name: 'x'.repeat(256) },
      { name: 'a', scopes: [] },
      { name: 'a', scopes: ['admin'] },
      { name: 'a', superuser: true },
    ]) {
      expect(await session.post('/tokens', body), JSON.stringify(body)).toMatchObject({
        status: 400,
        body: { code: 'BAD_USER_INPUT' },
      });
    }
  });
});

test('what is not shaped like a token, or nobody made, is no credential', async ({ service, ann }) => {
  expect(ann.username).toBe('ann');
  const invented = `dws_${'A'.repeat(43)}`;
  for (const authorization of [
    `Bearer ${invented}`,
    'Bearer dws_short',
    'Bearer',
    'Basic YW5uOnBhc3N3b3Jk',
    `bearer  ${invented} `,
    `Bearer ${'x'.repeat(10_000)}`,
  ]) {
    const answer = await new Client(service.url, { authorization }).get('/me');
    expect(answer).toMatchObject({ status: 401, body: { message: 'Missing authentication' } });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  }
  const session = await service.login('ann');
  expect(
    await session.with({ authorization: `Bearer ${invented}` }).get('/me'),
    'a bearer is meant, whatever cookie comes along',
  ).toMatchObject({ status: 401 });
});
