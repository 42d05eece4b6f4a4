import fc from 'fast-check';
import { expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import type { Transaction } from '../../src/core/platform.ts';
import {
  releaseCredits,
  reserveCredits,
  settleCredits,
  sweepReservations,
} from '../../src/services/usage/credit-reservation.ts';
import type { UsageActor } from '../../src/services/usage/effective-profile.ts';
import { meter } from '../../src/services/usage/usage-meter.ts';
import { chargeOf, figuresOf, expire, requestOf, reserve } from '../support/credit-fixture.ts';
import { runSql } from '../support/run-sql.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { tenantOf, WRONG_TOTALS } from '../support/usage-fixture.ts';
import { createProfile, test } from '../support/usage-profile-fixture.ts';

/*
 * Any sequence of reservations, charges, releases, expiries, crashes and bursts of callers leaves the figures of an actor
 * equal to those of a model, which never exceed the cap.
 */

const SEED = 2121;
const ROUNDS = 40;
/** Credits in thousandths. */
const CAP = 10_000;

/** How the transaction of a step ends. */
type Ending = 'commit' | 'throw' | 'lose the connection';
type Step =
  | { type: 'reserve'; slot: number; credits: number; ending: Ending }
  | { type: 'settle'; slot: number; percent: number; ending: Ending }
  | { type: 'release'; slot: number; ending: Ending }
  | { type: 'expire'; slot: number }
  | { type: 'sweep' }
  | { type: 'burst'; credits: number[] };

const slot = fc.nat({ max: 3 });
const ending = fc.constantFrom<Ending>('commit', 'commit', 'commit', 'commit', 'throw', 'lose the connection');
const credits = fc.oneof(fc.nat({ max: 6000 }), fc.constantFrom(0, 1, CAP, CAP + 1));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('reserve' as const), slot, credits, ending }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('settle' as const), slot, percent: fc.nat(100), ending }) },
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
  readonly slots = Array.from({ length: 4 }, () => newId());

  constructor(actor: UsageActor) {
    this.actor = actor;
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
    const id = 'slot' in one ? model.slots[one.slot]! : '';
    const former = model.reserved.get(id);
    if (one.type === 'reserve') {
      const request = requestOf(model.actor, { id, credits: print(one.credits) });
      const fits = model.used + model.reservedBut(id) + one.credits <= CAP;
      const outcome = await this.#run(one.ending, (tx) => reserveCredits(tx, owner, request));
      expect(outcome).toBe(fits ? one.ending === 'commit' : 'CREDITS_SPENT');
      if (outcome === true) model.reserved.set(id, one.credits);
    } else if (one.type === 'settle') {
      const amount = Math.floor(((former ?? 0) * one.percent) / 100);
      const committed = await this.#run(one.ending, (tx) => {
        settleCredits(tx, owner, id);
        meter(owner, tx, [chargeOf(model.actor, print(amount))]);
      });
      if (committed) model.used += amount;
      if (committed) model.reserved.delete(id);
    } else if (one.type === 'release') {
      if (await this.#run(one.ending, (tx) => releaseCredits(tx, owner, id))) model.reserved.delete(id);
    } else if (one.type === 'expire') {
      await expire(this.#service, id);
      model.reserved.delete(id);
    } else if (one.type === 'sweep') await this.#service.platform.system.transaction(sweepReservations);
    else await this.#burst(model, one.credits);
  }

  /** Reserves with several callers at once. Those that are refused would exceed the cap beside those that are not. */
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

test(
  'the figures are those of the model, and never exceed the cap',
  { timeout: 300_000 },
  async ({ service, admin }) => {
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
  },
);
