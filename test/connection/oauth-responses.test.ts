import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AuthorizationEnded, refreshTokens, type IssuedTokens } from '../../src/adapters/connection/oauth-client.ts';
import { createGuardedFetch } from '../../src/adapters/outbound/guarded-fetch.ts';
import type { OAuthClient } from '../../src/core/connection.ts';
import { startDriveFake } from '../../tools/drive-fake.ts';
import type { DriveFake } from '../../tools/drive-fake/fake-server.ts';

/** Responses of a provider to a refresh, by the fake authority of a drive. */
let fake: DriveFake;
const outbound = createGuardedFetch({ allowed: ['127.0.0.1'] });
beforeAll(async () => void (fake = await startDriveFake('google-drive')));
afterAll(() => Promise.all([outbound.close(), fake.close()]));
beforeEach(() => Object.assign(fake.authority, { refusal: null, tokenChanges: {} }));

/** Refreshes the tokens of a new authorization. Returns the former refresh token, too. */
async function refresh(): Promise<IssuedTokens & { former: string }> {
  const { clientId, clientSecret } = fake.authority;
  const { authUri, tokenUri } = fake.addresses;
  const client: OAuthClient = {
    clientId,
    clientSecret,
    authUri,
    tokenUri,
    revokeUri: null,
    scope: '',
    authParameters: {},
    tokenParameters: {},
    refreshTokenLifetimeMs: null,
  };
  const former = fake.authority.issueRefreshToken();
  const tokens = { accessToken: 'former', refreshToken: former, expiresAt: null };
  return { ...(await refreshTokens(outbound, client, tokens, AbortSignal.timeout(10_000))), former };
}

const inSeconds = ({ expiresAt }: IssuedTokens) =>
  expiresAt === null ? null : Math.round((expiresAt - Date.now()) / 1000);

describe('a refusal', () => {
  test.each([
    { error: 'invalid_grant' },
    { error: 'interaction_required' },
    { error: 'login_required' },
    { error: 'consent_required' },
    { error: 'account_selection_required' },
    { error: 'bad_refresh_token', status: 200 },
  ])('with $error ends the authorization', async (refusal) => {
    fake.authority.refusal = refusal;
    const error = await refresh().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AuthorizationEnded);
    expect((error as Error).message).toContain(refusal.error);
  });

  test.each([
    { error: 'invalid_client', status: 401 },
    { error: 'temporarily_unavailable', status: 400 },
    { error: 'incorrect_client_credentials', status: 200 },
  ])('with $error and the status $status is an error that names it', async (refusal) => {
    fake.authority.refusal = refusal;
    await expect(refresh()).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
      message: expect.stringContaining(refusal.error),
    });
  });
});

describe('a token response', () => {
  test.each([
    ['access_token', { access_token: undefined }],
    ['access_token', { access_token: null }],
    ['access_token', { access_token: '' }],
    ['token_type', { token_type: undefined }],
    ['token_type', { token_type: null }],
    ['expires_in', { expires_in: 'soon' }],
    ['expires_in', { expires_in: -1 }],
    ['refresh_token', { refresh_token: { token: 'secret-1' } }],
  ])('with an unusable %s is refused with its name: %j', async (name, changes) => {
    fake.authority.tokenChanges = changes;
    const error = (await refresh().catch((thrown: unknown) => thrown)) as Error;
    expect(error).toMatchObject({ code: 'UPSTREAM_FAILED' });
    expect(error.message).toMatch(new RegExp(`^The response of the provider is not usable: .*"${name}"`));
    expect(error.message).not.toContain('secret-1');
  });

  test.each([
    [{ expires_in: null }, null],
    [{ expires_in: undefined }, null],
    [{ expires_in: '120' }, 120],
    [{ expires_in: 0 }, 0],
    [{ expires_in: 1e300 }, 5 * 365 * 86_400],
    [{ token_type: 'BEARER' }, 3600],
  ])('%j is a token for %s seconds', async (changes, seconds) => {
    fake.authority.tokenChanges = changes;
    expect(inSeconds(await refresh())).toBe(seconds);
  });

  test.each([undefined, null, ''])('with %j as the refresh token keeps the former one', async (value) => {
    fake.authority.tokenChanges = { refresh_token: value };
    const { refreshToken, former } = await refresh();
    expect(refreshToken).toBe(former);
  });

  test('with the same refresh token again, or another one, has that one', async () => {
    for (const value of ['same', 'another']) {
      fake.authority.tokenChanges = { refresh_token: value };
      expect((await refresh()).refreshToken).toBe(value);
    }
  });
});
