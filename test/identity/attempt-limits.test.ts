import { describe, expect, test } from 'vitest';
import { Client } from '../support/client.ts';
import { expectBody, expectStatus } from '../support/expect.ts';
import { requestLink } from '../support/password-reset-fixture.ts';
import { PASSWORD, startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

/** Addresses of one network of IPv6, which one subscriber has. */
const NETWORK = ['2001:db8:0:1::1', '2001:db8:0:1::2', '2001:db8:0:1:ffff::', '2001:db8:0:1::3'];
/** Addresses of different networks. */
const NETWORKS = ['2001:db8:0:1::1', '2001:db8:0:2::1', '192.0.2.1', '192.0.2.2'];

const WRONG = { currentPassword: 'not the password', password: 'a quite different one' };

type Attempt = (service: Service, address: string, cookie: string) => Promise<{ status: number; headers: Headers }>;

const at = (service: Service, address: string, headers: Record<string, string> = {}) =>
  new Client(service.url, { 'x-forwarded-for': address, 'sec-fetch-site': 'same-origin', ...headers });

const logIn: Attempt = (service, address) =>
  at(service, address).post('/login', { username: 'ann', password: 'not the password' });
const changePassword: Attempt = (service, address, cookie) =>
  at(service, address, { cookie }).put('/me/password', WRONG);
const changeByGraphql: Attempt = (service, address, cookie) =>
  at(service, address, { cookie }).request('POST', '/graphql', {
    query: `mutation { changePassword(currentPassword: "${WRONG.currentPassword}", password: "${WRONG.password}") }`,
  });

/** Starts a service that counts three attempts, with a session of ann. */
async function startLimited(): Promise<{ service: Service; cookie: string }> {
  const service = await startService({ RATE_LIMIT_LOGIN: '3', TRUST_PROXY: 'loopback' });
  await service.user('ann');
  const { headers } = await service.login('ann');
  await systemQuery(service, 'delete from dws.login_attempt');
  return { service, cookie: headers['cookie']! };
}

describe('the limit of attempts counts', () => {
  const kinds: [what: string, attempt: Attempt, addresses: readonly string[], status: number, seconds: number][] = [
    ['logins of a network', logIn, NETWORK, 401, 60],
    [
      'requests of reset links of a network',
      (service, address) => requestLink(at(service, address), 'ann'),
      NETWORK,
      204,
      60,
    ],
    ['guesses of the current password of a network', changePassword, NETWORK, 400, 900],
    ['guesses of the current password of all networks', changePassword, NETWORKS, 400, 900],
    ['guesses of the current password of all networks by GraphQL', changeByGraphql, NETWORKS, 200, 900],
  ];
  test.for(kinds)('%s', async ([, attempt, addresses, status, seconds]) => {
    const { service, cookie } = await startLimited();
    try {
      const responses = [];
      for (const address of addresses) responses.push(await attempt(service, address, cookie));
      expect(responses.map((response) => response.status)).toEqual([status, status, status, 429]);
      const { headers } = responses.at(-1)!;
      expect(headers.get('retry-after')).toBe(`${seconds}`);
      expect(headers.get('ratelimit-policy')).toBe(`"login";q=3;w=${seconds}`);
    } finally {
      await service.close();
    }
  });

  test('guesses of the current password for fifteen minutes, apart from logins and from other users', async () => {
    const { service, cookie } = await startLimited();
    try {
      for (let n = 0; n < 3; n++) await expectStatus(changePassword(service, '192.0.2.1', cookie) as never, 400);
      await systemQuery(service, `update dws.login_attempt set at = at - interval '14 minutes'`);
      const right = { ...WRONG, currentPassword: PASSWORD };
      const session = at(service, '192.0.2.9', { cookie });
      await expectBody(session.put('/me/password', right), 429, { code: 'RATE_LIMITED' });
      await expectStatus(at(service, '192.0.2.9').post('/login', { username: 'ann', password: PASSWORD }), 200);
      await service.user('bob');
      await expectStatus((await service.login('bob')).put('/me/password', right), 204);
      await systemQuery(service, `update dws.login_attempt set at = at - interval '61 seconds'`);
      await expectStatus(session.put('/me/password', right), 204);
    } finally {
      await service.close();
    }
  });
});
