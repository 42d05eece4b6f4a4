import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect } from 'vitest';
import { childEnvironment } from '../../src/core/process-environment.ts';
import { endLostCalls } from '../../src/services/ai/sent-call.ts';
import { builtMain } from '../support/built-service.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { tenantOf, WRONG_TOTALS } from '../support/usage-fixture.ts';
import { createProfile, test } from '../support/usage-profile-fixture.ts';
import type { WorkerOptions } from './credit-worker.ts';

const WORKER = fileURLToPath(new URL('./credit-worker.ts', import.meta.url));
const CAP = 40;

interface Worker {
  child: ChildProcess;
  /** Resolves when the first calls run. */
  started: Promise<unknown>;
  /** Returns its output at its end; throws its errors. */
  result: Promise<{ charged: number; refused: number }>;
}

function startWorker(options: WorkerOptions): Worker {
  const folder = dirname(dirname(dirname(builtMain())));
  const child = spawn(process.execPath, [WORKER, folder, JSON.stringify(options)], {
    env: childEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [text, errors] = ['', ''];
  child.stdout!.on('data', (part) => (text += String(part)));
  child.stderr!.on('data', (part) => (errors += String(part)));
  const result = once(child, 'close').then(([code]) => {
    if (code !== 0) throw new Error(`The worker ended with ${code}: ${errors}`);
    return JSON.parse(text.trim().split('\n').at(-1)!) as { charged: number; refused: number };
  });
  result.catch(() => {});
  return { child, started: once(child.stdout!, 'data'), result };
}

/** Returns used and reserved credits by actor, in tenths, from one statement. */
const figures = (service: Service, actors: readonly string[]) =>
  systemQuery<{ actor: string; used: number; reserved: number }>(
    service,
    `select actor,
      coalesce((select sum(credits) from dws.usage_day d where d.actor = a.actor), 0)::float8 as used,
      coalesce(
        (
          select sum(credits) from dws.credit_reservation r
          where r.actor = a.actor and (r.sent_at is not null or r.expires_at > clock_timestamp())
        ),
        0
      )::float8 as reserved
    from unnest($1::text[]) a (actor)`,
    actors,
  );

/** Watches the figures until the workers have ended. Returns the highest sum that was seen. */
async function watch(service: Service, actors: readonly string[], ended: Promise<unknown>): Promise<number> {
  let [highest, hasEnded] = [0, false];
  const end = () => void (hasEnded = true);
  void ended.then(end, end);
  while (!hasEnded)
    for (const { used, reserved } of await figures(service, actors)) highest = Math.max(highest, used + reserved);
  return highest;
}

describe('two processes with 50 callers', () => {
  const prepare = async (service: Service, admin: Parameters<typeof createProfile>[0], names: string[]) => {
    const { id } = await createProfile(admin, { creditCapPerMonth: CAP });
    const users = await Promise.all(names.map((name) => service.user(name)));
    for (const name of names) await admin.put(`/users/${name}/ai/profile`, { profileId: id });
    const actors = users.map((user) => `user:${user.id}` as const);
    return { actors, options: { url: service.databaseUrl, tenantId: await tenantOf(service), actors } };
  };

  test('never use or reserve more than the cap', async ({ service, admin }) => {
    const { actors, options } = await prepare(service, admin, ['one', 'two']);
    const workers = [1, 2].map(() => startWorker({ ...options, callers: 25, calls: 8 }));
    const results = Promise.all(workers.map(({ result }) => result));
    const highest = await watch(service, actors, results);
    const [first, second] = await results;
    expect(highest).toBeLessThanOrEqual(CAP);
    // The calls request about ten times the cap. The last ones leave less than the largest call.
    expect(highest).toBeGreaterThan(CAP - 4);
    expect(first!.refused + second!.refused).toBeGreaterThan(0);
    for (const { used, reserved } of await figures(service, actors)) {
      expect(used).toBeLessThanOrEqual(CAP);
      expect(reserved).toBe(0);
    }
    const [lines] = await systemQuery<{ count: number }>(
      service,
      'select count(*)::int as count from dws.usage_event where actor = any($1)',
      actors,
    );
    expect(lines!.count).toBe(first!.charged + second!.charged);
    expect(await systemQuery(service, WRONG_TOTALS)).toEqual([]);
  });

  test('charge what a killed one had sent, and lose what else it had reserved for 10 minutes', async ({
    service,
    admin,
  }) => {
    const { actors, options } = await prepare(service, admin, ['three', 'four']);
    const [killed, other] = [1, 2].map(() => startWorker({ ...options, callers: 25, calls: 8 }));
    const watched = watch(service, actors, Promise.allSettled([killed!.result, other!.result]));
    await Promise.all([killed!.started, other!.started]);
    await new Promise((wake) => setTimeout(wake, 60));
    killed!.child.kill('SIGKILL');
    await other!.result;
    expect(await watched).toBeLessThanOrEqual(CAP);
    const open = (await figures(service, actors)).map(({ used, reserved }) => used + reserved);
    await systemQuery(service, `delete from dws.credit_reservation where actor = any($1) and sent_at is null`, actors);
    const sent = (await figures(service, actors)).map(({ used, reserved }) => used + reserved);
    await endLostCalls(service.platform);
    for (const [index, { used, reserved }] of (await figures(service, actors)).entries()) {
      expect([used, reserved]).toEqual([expect.closeTo(sent[index]!, 6), 0]);
      expect(used).toBeLessThanOrEqual(open[index]!);
    }
    expect(await systemQuery(service, WRONG_TOTALS)).toEqual([]);
    const again = startWorker({ ...options, callers: 50, calls: 8 });
    expect(await watch(service, actors, again.result)).toBeLessThanOrEqual(CAP);
    for (const { used, reserved } of await figures(service, actors)) {
      expect(used).toBeGreaterThan(CAP - 4);
      expect(used + reserved).toBeLessThanOrEqual(CAP);
    }
  });
});
