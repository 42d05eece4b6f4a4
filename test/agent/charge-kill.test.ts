import { createHash } from 'node:crypto';
import pg from 'pg';
import { expect } from 'vitest';
import { startAiFake } from '../../tools/ai-fake.ts';
import type { AiFake } from '../../tools/ai-fake/fake-provider.ts';
import { test, type JobCluster } from '../job/job-cluster.ts';
import { Client } from '../support/client.ts';
import { WRONG_TOTALS } from '../support/usage-fixture.ts';
import { callOf, createAgent } from './agent-fixture.ts';

/* A worker that is killed at any moment of a call of a provider: sent calls are charged exactly once. */

/**
 * Where a worker is killed, and how many calls the provider and the ledger may have then. An operation that has not begun
 * begins later. Postgres may commit that a call is sent after the worker has died: only then is charged what the provider
 * has not got.
 */
const MOMENTS = {
  'before the call': ['0 called, 0 charged', '1 called, 1 charged'],
  'before the call is recorded as sent': ['0 called, 0 charged', '0 called, 1 charged'],
  'before the response': ['1 called, 1 charged'],
  'before the response is recorded': ['1 called, 1 charged'],
  'before the operation ends': ['1 called, 1 charged'],
};
type Moment = keyof typeof MOMENTS;

/** Kinds of calls, and the number of calls before the one in which the worker is killed. */
const KINDS = { run: 0, 'later step of a run': 1, image: 0 };
type Kind = keyof typeof KINDS;

/** Lock that stops transactions at the moments in `paused.moment`. */
const LOCK = 42;

const PAUSES = `
  create schema paused;
  create table paused.moment (user_id uuid, moment text, former int);
  create function paused.wait(who uuid, at text) returns void language plpgsql security definer as $$ begin
    if exists (
      select from paused.moment m
      where m.user_id = who and m.moment = at and m.former = (select count(*) from dws.ai_call c where c.user_id = who)
    ) then perform pg_advisory_xact_lock_shared(${LOCK}); end if;
  end $$;
  create function paused.reservation() returns trigger language plpgsql security definer as $$ begin
    if tg_op = 'DELETE' then
      if old.sent_at is not null then perform paused.wait(old.payer, 'before the response is recorded'); end if;
      return old;
    end if;
    if new.sent_at is not null then perform paused.wait(new.payer, 'before the call is recorded as sent'); end if;
    return new;
  end $$;
  create trigger paused before insert or update or delete on dws.credit_reservation
    for each row execute function paused.reservation();
  create function paused.operation() returns trigger language plpgsql security definer as $$ begin
    if new.status = 'running' and old.status = 'queued' then
      perform paused.wait(new.user_id, 'before the call');
    end if;
    if new.finished_at is not null and old.finished_at is null then
      perform paused.wait(new.user_id, 'before the operation ends');
    end if;
    return new;
  end $$;
  create trigger paused before update on dws.operation for each row execute function paused.operation();
  grant usage on schema paused to public`;

interface Case {
  kind: Kind;
  moment: Moment;
  /** Text of its requests to the provider. */
  mark: string;
  user: Client;
}

/** Creates a user who may use AI. */
async function createUser({ sql, caller }: JobCluster, name: string): Promise<Client> {
  const token = `dws_${name.padEnd(43, 'x')}`;
  const [user] = await sql(
    `insert into dws.app_user (tenant_id, id, username, enabled, permissions)
    select tenant_id, gen_random_uuid(), $2, true, '["assistants:create", "ai:access"]' from dws.app_user where id = $1
    returning id::text`,
    [caller.id, name],
  );
  await sql(
    `insert into dws.api_token (tenant_id, user_id, id, name, token_hash, prefix, scopes)
    select tenant_id, id, gen_random_uuid(), 'test', $2, 'dws_test', '["read", "write"]' from dws.app_user where id = $1`,
    [user!['id'], createHash('sha256').update(token).digest('base64url')],
  );
  return new Client(caller.url, { authorization: `Bearer ${token}` }, { id: String(user!['id']), username: name });
}

/** Starts the call of a case, and waits until it is at its moment. */
async function bringToMoment({ sql }: JobCluster, ai: AiFake, { kind, moment, mark, user }: Case): Promise<void> {
  const former = KINDS[kind];
  const pause =
    former > 0 && moment === 'before the call'
      ? ['before the response is recorded', former - 1]
      : [moment, moment === 'before the operation ends' ? former + 1 : former];
  await sql('insert into paused.moment values ($1, $2, $3)', [user.id, ...pause]);
  const stopped = async () =>
    (await sql(`select from pg_locks where locktype = 'advisory' and objid = ${LOCK} and not granted`)).length +
    ai.openCalls;
  const before = await stopped();
  if (former > 0) {
    ai.script.push(callOf('none'));
    ai.behaviors.push({ delayMs: 0 });
  }
  ai.behaviors.push({ hangs: moment === 'before the response' });
  const [path, body] =
    kind === 'image'
      ? ['/_create-image', { prompt: mark }]
      : [`${(await createAgent(user)).path}/_run`, { payload: mark }];
  expect((await user.post(path, body, { prefer: 'respond-async' })).status).toBe(202);
  await expect.poll(stopped).toBe(before + 1);
  ai.behaviors.length = 0;
}

type Outcome = Record<'called' | 'charged' | 'audited' | 'credits' | 'stated' | 'runs' | 'reserved' | 'open', number>;

/** Returns what the provider, the ledger, the audit and the runs have of a case, and what has not ended. */
async function outcomeOf({ sql }: JobCluster, ai: AiFake, { mark, user }: Case): Promise<Outcome> {
  const [row] = await sql(
    `select (select count(*)::int from dws.credit_reservation where payer = $1) as reserved,
      (select count(*)::int from dws.operation where user_id = $1 and finished_at is null) as open,
      (select count(*)::int from dws.usage_event where payer = $1 and key like 'ai:%') as charged,
      (select count(*)::int from dws.usage_event where payer = $1 and key like 'agent:%') as runs,
      (select coalesce(sum(credits), 0)::float8 from dws.usage_event where payer = $1) as credits,
      (select coalesce(sum(credits), 0)::float8 from dws.ai_call where user_id = $1) as audited,
      (select coalesce(sum(r.credits), 0)::float8 from dws.agent_run r join dws.agent a on a.id = r.agent_id
        where a.owner_id = $1) as stated`,
    [user.id],
  );
  const called = ai.calls.filter((call) => JSON.stringify(call).includes(mark)).length;
  return { ...(row as unknown as Outcome), called };
}

test.for(Object.keys(KINDS) as Kind[])(
  'what a provider was called for is charged once, whenever the worker is killed: %s',
  { timeout: 240_000 },
  async (kind, { cluster }) => {
    const { caller, sql, databaseUrl, startWorker } = cluster;
    const ai = await startAiFake();
    cluster.onEnd(() => ai.close());
    await caller.creates('/ai-providers', ai.provider);
    await sql(PAUSES);
    const lock = new pg.Client({ connectionString: databaseUrl });
    await lock.connect();
    cluster.onEnd(() => lock.end());
    await lock.query(`select pg_advisory_lock(${LOCK})`);
    // One worker has places for four images of a tenant.
    const workers = [await startWorker(), await startWorker()];
    const cases: Case[] = [];
    for (const moment of Object.keys(MOMENTS) as Moment[]) {
      const name = `user-${cases.length}`;
      const one: Case = { kind, moment, mark: `mark ${cases.length}.`, user: await createUser(cluster, name) };
      await bringToMoment(cluster, ai, one);
      cases.push(one);
    }
    for (const worker of workers) await worker.end('SIGKILL');
    await lock.query(`select pg_advisory_unlock(${LOCK})`);
    await startWorker();
    const left = `select (select count(*)::int from dws.credit_reservation) as reserved,
    (select count(*)::int from dws.operation where finished_at is null) as open`;
    await expect.poll(() => sql(left), { timeout: 90_000, interval: 500 }).toEqual([{ reserved: 0, open: 0 }]);
    const outcomes = await Promise.all(cases.map((one) => outcomeOf(cluster, ai, one)));
    cases.forEach(({ moment }, i) => {
      const { called, charged, audited, ...outcome } = outcomes[i]!;
      const former = KINDS[kind];
      expect(MOMENTS[moment]).toContain(`${called - former} called, ${charged - former} charged`);
      const runs = kind !== 'image' && charged > 0 ? 1 : 0;
      const credits = expect.closeTo(audited + runs, 6);
      expect([moment, outcome]).toEqual([
        moment,
        { reserved: 0, open: 0, runs, credits, stated: kind === 'image' ? 0 : credits },
      ]);
      expect(audited > 0).toBe(charged > 0);
    });
    expect(await sql(WRONG_TOTALS)).toEqual([]);
  },
);
