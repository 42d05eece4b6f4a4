import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDrives } from '../../../src/adapters/drives/drive-list.ts';
import { startDriveFake } from '../../../tools/drive-fake.ts';
import type { DriveFake } from '../../../tools/drive-fake/fake-server.ts';

const REDIRECT = 'http://127.0.0.1:1/api/oauth/callback';
const VERIFIER = 'v'.repeat(43);

/** Tests that a library can be authorized at the fakes with the settings that its integration takes from the drive. */
describe.each([...createDrives().values()])('the authority of $id', (drive) => {
  let fake: DriveFake;
  beforeAll(async () => void (fake = await startDriveFake(drive.id)));
  afterAll(() => fake.close());

  const authorizeUrl = (): string => {
    const url = new URL(fake.addresses.authUri);
    const query = {
      client_id: fake.authority.clientId,
      response_type: 'code',
      redirect_uri: REDIRECT,
      scope: drive.defaults.scope,
      state: 'the-state',
      code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
      code_challenge_method: 'S256',
      ...drive.defaults.authParameters,
    };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url.href;
  };
  async function consent(decision: 'allow' | 'deny'): Promise<URLSearchParams> {
    const url = authorizeUrl();
    expect(await (await fetch(url)).text()).toContain('value="allow"');
    const { headers } = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams({ decision }),
      redirect: 'manual',
    });
    return new URL(headers.get('location')!).searchParams;
  }
  async function requestToken(form: Record<string, string>) {
    const { clientId, clientSecret } = fake.authority;
    const body = new URLSearchParams({ client_id: clientId, client_secret: clientSecret, ...form });
    const response = await fetch(fake.addresses.tokenUri, { method: 'POST', body });
    return (await response.json()) as { access_token: string; refresh_token?: string; error?: string };
  }
  const exchange = (code: string, verifier = VERIFIER) =>
    requestToken({ grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: REDIRECT });

  test('issues tokens for a code once, and refreshes them', async () => {
    const query = await consent('allow');
    expect(query.get('state')).toBe('the-state');
    const first = await exchange(query.get('code')!);
    expect(fake.authority.isValid(first.access_token)).toBe(true);
    expect(await exchange(query.get('code')!)).toMatchObject({ error: 'invalid_grant' });
    fake.authority.expireTokens();
    expect(fake.authority.isValid(first.access_token)).toBe(false);
    const refresh = { grant_type: 'refresh_token', refresh_token: first.refresh_token! };
    const second = await requestToken(refresh);
    expect(fake.authority.isValid(second.access_token)).toBe(true);
    const again = await requestToken(refresh);
    if (fake.protocol.rotates)
      expect([second.refresh_token === refresh.refresh_token, again.error]).toEqual([false, 'invalid_grant']);
    else expect([second.refresh_token, again.error]).toEqual([undefined, undefined]);
  });

  test('refuses another verifier', async () => {
    const query = await consent('allow');
    expect(await exchange(query.get('code')!, 'w'.repeat(43))).toMatchObject({ error: 'invalid_grant' });
  });

  test('returns the refusal of the user', async () => {
    expect((await consent('deny')).get('error')).toBe('access_denied');
  });

  test('revokes all tokens of an authorization', async () => {
    const { access_token: access, refresh_token: refresh } = await exchange((await consent('allow')).get('code')!);
    await fetch(fake.addresses.revokeUri, { method: 'POST', body: new URLSearchParams({ token: refresh! }) });
    expect(fake.authority.isValid(access)).toBe(false);
    expect(await requestToken({ grant_type: 'refresh_token', refresh_token: refresh! })).toMatchObject({
      error: 'invalid_grant',
    });
  });
});

test('tools/drive-fake.ts runs by itself and is changed over HTTP', async () => {
  const child = execFile(process.execPath, ['tools/drive-fake.ts', 'box', '--port', '0']);
  try {
    let printed = '';
    for await (const part of child.stdout!) if ((printed += part).includes('}')) break;
    const { apiUri, type } = JSON.parse(printed) as { apiUri: string; type: string };
    expect(type).toBe('box');
    const control = async (operation: string, input: object) => {
      const response = await fetch(new URL(`/_control/${operation}`, apiUri), {
        method: 'POST',
        body: JSON.stringify(input),
      });
      return (await response.json()) as { result: unknown };
    };
    expect(await control('put', { path: 'docs/a.txt', text: 'alpha' })).toEqual({ result: 'file_1001' });
    expect(await control('move', { path: 'docs/a.txt', to: 'b.txt' })).toEqual({ result: 'file_1001' });
    expect((await fetch(`${apiUri}/users/me`)).status).toBe(401);
    expect(await control('calls', {})).toEqual({ result: { account: 1 } });
  } finally {
    child.kill();
  }
});
