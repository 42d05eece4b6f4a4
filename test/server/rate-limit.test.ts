import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { RateLimiter } from '../../src/server/rate-limit.ts';
import { Client } from '../support/client.ts';
import { waitForEarlyMinute } from '../support/early-minute.ts';
import { expectBody } from '../support/expect.ts';
import { startService } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

const LIMIT = 20;
const getStatus = async (client: Client) => (await client.get('/me')).status;

describe('the limit of calls per minute', () => {
  test('applies to a caller in both APIs and across processes', async () => {
    const variables = { RATE_LIMIT_API: String(LIMIT) };
    const first = await startService(variables);
    const second = await startService({ ...variables, ROLE: 'web' }, { databaseUrl: first.databaseUrl });
    try {
      const [ann, bob] = [await first.user('ann'), await first.user('bob')];
      await waitForEarlyMinute();
      const statuses = await Promise.all(Array.from({ length: 25 }, () => getStatus(ann)));
      expect(statuses.filter((status) => status === 200)).toHaveLength(20);
      expect(statuses.filter((status) => status === 429)).toHaveLength(5);

      const refused = await ann.get('/me');
      await expectBody(refused, 429, { code: 'RATE_LIMITED', message: 'Too many requests' });
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(refused.headers.get('ratelimit-policy')).toBe('"api";q=20;w=60');
      expect(refused.headers.get('ratelimit')).toMatch(/^"api";r=0;t=\d+$/);
      const refusedQuery = await ann.gql('{ me { id } }');
      expect(refusedQuery).toMatchObject({
        status: 429,
        errors: [{ extensions: { code: 'RATE_LIMITED', status: 429 } }],
      });
      expect(refusedQuery.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(await getStatus(bob)).toBe(200);

      const annElsewhere = new Client(second.url, ann.headers);
      let tries = 0;
      await expect.poll(() => (tries++, getStatus(annElsewhere)), { interval: 600, timeout: 9000 }).toBe(429);
      expect(tries).toBeLessThan(LIMIT);
      expect(await getStatus(new Client(second.url, bob.headers))).toBe(200);
    } finally {
      await second.close();
      await first.close();
    }
  });

  test('applies to each process for concurrent calls, and to all together from then on', async () => {
    const service = await startService();
    const policy = { name: 'api', limit: LIMIT } as const;
    const limiters = [new RateLimiter(service.platform, policy), new RateLimiter(service.platform, policy)];
    const isAccepted = (limiter: RateLimiter, caller: string): boolean => {
      try {
        limiter.count(caller);
        return true;
      } catch (error) {
        expect(error).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
        return false;
      }
    };
    const countAccepted = (limiter: RateLimiter, caller: string, calls: number): number =>
      Array.from({ length: calls }, () => isAccepted(limiter, caller)).filter(Boolean).length;
    try {
      await waitForEarlyMinute();
      // All calls of one turn of the event loop: no process can know the calls of the other.
      for (const limiter of limiters) expect(countAccepted(limiter, 'ann', LIMIT + 10)).toBe(LIMIT);
      const half = LIMIT / 2 + 2;
      for (const limiter of limiters) expect(countAccepted(limiter, 'bob', half)).toBe(half);
      // Fewer than the limit in each process, and more in both.
      for (const limiter of limiters) {
        let own = half;
        const tryAgain = () => {
          if (!isAccepted(limiter, 'bob')) return true;
          own += 1;
          return false;
        };
        await expect.poll(tryAgain, { interval: 1000, timeout: 9000 }).toBe(true);
        expect(own).toBeLessThan(LIMIT);
      }
      for (const limiter of limiters) expect(countAccepted(limiter, 'bob', 10)).toBe(0);
      for (const limiter of limiters) expect(isAccepted(limiter, 'carl')).toBe(true);
    } finally {
      for (const limiter of limiters) limiter.close();
      await service.close();
    }
  });

  test('counts each call once, even while Postgres is slow', async () => {
    const service = await startService();
    const blocker = new pg.Client({ connectionString: service.databaseUrl });
    await blocker.connect();
    const limiter = new RateLimiter(service.platform, { name: 'api', limit: 100 });
    try {
      await waitForEarlyMinute();
      await blocker.query('begin; lock table dws.rate_count');
      for (let n = 0; n < 5; n++) limiter.add('ann');
      const running = async () =>
        (
          await blocker.query(
            `select from pg_locks where relation = 'dws.rate_count'::regclass and pid <> pg_backend_pid()`,
          )
        ).rowCount;
      await expect.poll(running).toBe(1);
      // Time for two more exchanges.
      await new Promise((resolve) => setTimeout(resolve, 2500));
      await blocker.query('commit');
      await expect.poll(running).toBe(0);
      const rows = await systemQuery(service, `select count from dws.rate_count where caller = 'ann'`);
      expect(rows).toEqual([{ count: 5 }]);
    } finally {
      limiter.close();
      await blocker.end();
      await service.close();
    }
  });

  test('counts the addresses of a network of IPv6 as one', async () => {
    const service = await startService({ RATE_LIMIT_API: '5', TRUST_PROXY: 'loopback' });
    try {
      const statusAt = (address: string) => getStatus(new Client(service.url, { 'x-forwarded-for': address }));
      const statuses: number[] = [];
      for (let n = 1; n < 20; n++) statuses.push(await statusAt(`2001:db8:1:2::${n}`));
      // The minute may end in between.
      expect(statuses).toContain(429);
      expect(await statusAt('2001:db8:1:3::1')).toBe(401);
    } finally {
      await service.close();
    }
  });

  test('applies to an address with many invalid credentials, but not to valid callers at that address', async () => {
    const service = await startService({ RATE_LIMIT_API: String(LIMIT) });
    try {
      const ann = await service.user('ann');
      expect(await getStatus(ann)).toBe(200);
      await waitForEarlyMinute();
      const statuses: number[] = [];
      for (let n = 0; n < 30; n++) {
        const authorization = `Bearer dws_${String(n).padStart(43, '0')}`;
        statuses.push(await getStatus(new Client(service.url, { authorization })));
      }
      expect(statuses.slice(0, LIMIT)).toEqual(Array(LIMIT).fill(401));
      expect(statuses.slice(LIMIT)).toEqual(Array(10).fill(429));
      expect(await getStatus(ann)).toBe(200);
    } finally {
      await service.close();
    }
  });
});
