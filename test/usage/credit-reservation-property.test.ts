import fc from 'fast-check';
import { expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import type { Transaction } from '../../src/core/platform.ts';
import { endCall, endLostCalls, sendCall, type SentCallEnd } from '../../src/services/ai/sent-call.ts';
import { releaseCredits, reserveCredits, sweepReservations } from '../../src/services/usage/credit-reservation.ts';
import type { UsageActor } from '../../src/services/usage/effective-profile.ts';
import { expire, figuresOf, requestOf, reserve, sentCallOf, succeeded } from '../support/credit-fixture.ts';
import { runSql } from '../support/run-sql.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { tenantOf, WRONG_TOTALS } from '../support/usage-fixture.ts';
import { createProfile, test } from '../support/usage-profile-fixture.ts';

/*
 * Any sequence of reservations, calls that are sent, charged, refused or lost, releases, expiries, crashes and bursts of
 * callers leaves the figures of an actor equal to the figures of a model, which never exceed the cap: sent calls are
 * charged.
 */

const SEED = 2121;
const ROUNDS = 40;
/** Credits in thousandths. */
const CAP = 10_000;

/** How the transaction of a step ends. */
type Ending = 'commit' | 'throw' | 'lose the connection';
type Step =
  | { type: 'reserve'; slot: number; credits: number; ending: Ending }
  | { type: 'send'; slot: number; ending: Ending }
  | { type: 'end'; slot: number; percent: number | null; state: SentCallEnd['state']; ending: Ending }
  | { type: 'lose' }
  | { type: 'release'; slot: number; ending: Ending }
  | { type: 'expire'; slot: number }
  | { type: 'sweep' }
  | { type: 'burst'; credits: number[] };

type StepOf<T extends Step['type']> = Extract<Step, { type: T }>;

const slot = fc.nat({ max: 1 });
const ending = fc.constantFrom<Ending>('commit', 'commit', 'commit', 'commit', 'throw', 'lose the connection');
const credits = fc.oneof(fc.nat({ max: 6000 }), fc.constantFrom(0, 1, CAP, CAP + 1));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('reserve' as const), slot, credits, ending }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('send' as const), slot, ending }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('end' as const),
      slot,
      // A provider may state more than was reserved.
      percent: fc.option(fc.nat(150)),
      state: fc.constantFrom<SentCallEnd['state']>('sent', 'sent', 'refused', 'unsent'),
      ending,
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'lose' as const }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('release' as const), slot, ending }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('expire' as const), slot }) },
  { weight: 1, arbitrary: fc.constant({ type: 'sweep' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('burst' as const),
      credits: fc.array(fc.nat({ max: 4000 }), { minLength: 2, maxLength: 8 }),
    }),
  },
);

const print = (thousandths: number): string => (thousandths / 1000).toFixed(6);

/** An actor with the figures that it must have. */
class Model {
  readonly actor: UsageActor;
  used = 0;
  /** Credits by the id of a reservation. */
  readonly reserved = new Map<string, number>();
  /** Those whose call was sent. */
  readonly sent = new Set<string>();
  readonly slots = Array.from({ length: 2 }, () => newId());

  constructor(actor: UsageActor) {
    this.actor = actor;
  }

  /** Ends a reservation with its charge. */
  end(id: string, charge: number): void {
    this.used += charge;
    this.reserved.delete(id);
    // A call has one reservation in its life.
    if (this.sent.delete(id)) this.slots[this.slots.indexOf(id)] = newId();
  }

  reservedBut(id?: string): number {
    return [...this.reserved].reduce((sum, [key, amount]) => (key === id ? sum : sum + amount), 0);
  }

  get figures() {
    const reserved = this.reservedBut();
    return {
      used: print(this.used),
      reserved: print(reserved),
      cap: CAP / 1000,
      remaining: print(CAP - this.used - reserved),
    };
  }
}

class Runner {
  readonly #service: Service;
  readonly #tenantId: string;

  constructor(service: Service, tenantId: string) {
    this.#service = service;
    this.#tenantId = tenantId;
  }

  /** Runs work in a transaction that ends so. Returns whether it was committed, or the code of its refusal. */
  async #run(end: Ending, work: (tx: Transaction) => Promise<void> | void): Promise<boolean | string> {
    const { platform, databaseUrl } = this.#service;
    const ended = platform.database.transaction(this.#tenantId, async (tx) => {
      await work(tx);
      if (end === 'commit') return;
      const [backend] = await tx.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' });
      if (end === 'throw') throw new Error('The work failed');
      await runSql(databaseUrl, 'select pg_terminate_backend($1, 10000)', [backend!.pid]);
    });
    return ended.then(
      () => true,
      (error: { code?: string }) => (error.code === 'CREDITS_SPENT' ? error.code : false),
    );
  }

  async step(model: Model, one: Step): Promise<void> {
    const owner = { tenantId: this.#tenantId };
    if (one.type === 'sweep') await this.#service.platform.system.transaction(sweepReservations);
    else if (one.type === 'burst') await this.#burst(model, one.credits);
    else if (one.type === 'lose') {
      await endLostCalls(this.#service.platform);
      for (const id of model.sent) model.end(id, model.reserved.get(id)!);
    } else {
      const id = model.slots[one.slot]!;
      if (one.type === 'reserve') await this.#reserve(model, id, one);
      else if (one.type === 'send') await this.#send(model, id, one);
      else if (one.type === 'end') await this.#end(model, id, one);
      else if (one.type === 'expire') await expire(this.#service, id);
      else if (!(await this.#run(one.ending, (tx) => releaseCredits(tx, owner, id)))) return;
      if ((one.type === 'expire' || one.type === 'release') && !model.sent.has(id)) model.reserved.delete(id);
    }
  }

  async #reserve(model: Model, id: string, { credits: amount, ending: end }: StepOf<'reserve'>): Promise<void> {
    const request = requestOf(model.actor, { id, credits: print(amount) });
    const fits = model.used + model.reservedBut(id) + amount <= CAP;
    const outcome = await this.#run(end, (tx) => reserveCredits(tx, { tenantId: this.#tenantId }, request));
    if (model.sent.has(id)) return expect(outcome).toBe(false);
    expect(outcome).toBe(fits ? end === 'commit' : 'CREDITS_SPENT');
    if (outcome === true) model.reserved.set(id, amount);
  }

  /** Sends a call, if there is a reservation that has not been sent. */
  async #send(model: Model, id: string, { ending: end }: StepOf<'send'>): Promise<void> {
    const amount = model.reserved.get(id);
    if (amount === undefined || model.sent.has(id)) return;
    const call = sentCallOf(requestOf(model.actor, { id, credits: print(amount) }));
    const ids = { reservationId: id, workId: newId() };
    if (await this.#run(end, (tx) => sendCall(tx, { tenantId: this.#tenantId }, ids, call))) model.sent.add(id);
  }

  /** Ends a call twice. The second time changes nothing. Does nothing if it was not sent. */
  async #end(model: Model, id: string, { percent, state, ending: end }: StepOf<'end'>): Promise<void> {
    const amount = model.reserved.get(id) ?? 0;
    const stated = percent === null ? null : Math.floor((amount * percent) / 100);
    const how = { ...succeeded(print(stated ?? 0)), state, ...(stated === null && { stated: null }) };
    const committed = await this.#run(end, async (tx) => {
      await endCall(tx, { tenantId: this.#tenantId }, id, how);
      expect(await endCall(tx, { tenantId: this.#tenantId }, id, how)).toBeUndefined();
    });
    if (committed && model.sent.has(id)) model.end(id, state === 'sent' ? Math.min(stated ?? amount, amount) : 0);
  }

  /** Reserves with several callers concurrently. The refused ones would exceed the cap together with the accepted ones. */
  async #burst(model: Model, amounts: readonly number[]): Promise<void> {
    const outcomes = await Promise.allSettled(
      amounts.map((amount) =>
        reserve(this.#service, this.#tenantId, requestOf(model.actor, { credits: print(amount) })),
      ),
    );
    for (const [index, outcome] of outcomes.entries())
      if (outcome.status === 'fulfilled') model.reserved.set(outcome.value, amounts[index]!);
    const total = model.used + model.reservedBut();
    expect(total).toBeLessThanOrEqual(CAP);
    for (const [index, outcome] of outcomes.entries())
      if (outcome.status === 'rejected') expect(total + amounts[index]!).toBeGreaterThan(CAP);
  }
}

test('the figures equal the model, and never exceed the cap', { timeout: 300_000 }, async ({ service, admin }) => {
  const tenantId = await tenantOf(service);
  await createProfile(admin, { creditCapPerMonth: CAP / 1000, isDefault: true });
  const runner = new Runner(service, tenantId);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const model = new Model(`user:${newId()}`);
      for (const one of steps) {
        await runner.step(model, one);
        expect(await figuresOf(service, tenantId, model.actor), JSON.stringify(one)).toEqual(model.figures);
        expect(model.used + model.reservedBut()).toBeLessThanOrEqual(CAP);
      }
      const [lines] = await systemQuery<{ credits: number }>(
        service,
        'select coalesce(sum(credits), 0)::float8 as credits from dws.usage_event where actor = $1',
        model.actor,
      );
      expect(lines!.credits).toBeCloseTo(model.used / 1000, 6);
    }),
    { numRuns: ROUNDS, seed: SEED, endOnFailure: true },
  );
  expect(await systemQuery(service, WRONG_TOTALS)).toEqual([]);
});
