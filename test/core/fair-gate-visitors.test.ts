import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairGate, halfOf, threeQuartersOf, type Caller } from '../../src/core/fair-gate.ts';

const NEVER = new AbortController().signal;
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A caller with a part of the places, whose visitor this is. */
const visitor = (userId: string, visitorId: string): Caller => ({ tenantId: 'one', userId, share: 1 / 2, visitorId });

/** Tasks of a gate, which run until the test ends them. */
class Tasks {
  readonly running: Caller[] = [];
  readonly waiting: Caller[] = [];
  readonly #ends: (() => void)[] = [];
  readonly #gate: FairGate;

  constructor(gate: FairGate) {
    this.#gate = gate;
  }

  async enter(caller: Caller): Promise<void> {
    this.waiting.push(caller);
    void this.#gate.enter(caller, NEVER).then((leave) => {
      this.waiting.splice(this.waiting.indexOf(caller), 1);
      this.running.push(caller);
      this.#ends.push(leave);
    });
    await settle();
  }

  async end(index: number): Promise<void> {
    this.running.splice(index, 1);
    this.#ends.splice(index, 1)[0]!();
    await settle();
  }

  /** Returns the number of running tasks of a caller, or of one of its visitors. */
  count(userId: string, visitorId?: string): number {
    const isOf = (one: Caller) => one.userId === userId && [undefined, one.visitorId].includes(visitorId);
    return this.running.filter(isOf).length;
  }
}

test.for([
  [undefined, [1, 1, 1, 2, 4, 8]],
  [threeQuartersOf, [1, 1, 2, 3, 6, 12]],
] as const)('a visitor occupies at most a part of the places of a caller: %o %o', async ([ofVisitor, expected]) => {
  const counts: number[] = [];
  for (const places of [1, 2, 3, 4, 8, 16]) {
    const tasks = new Tasks(
      new FairGate({ places: 4 * places, maxWaiting: 100, taskNoun: 'tasks', ...(ofVisitor && { ofVisitor }) }),
    );
    for (let n = 0; n <= places; n++) await tasks.enter(visitor('ann', 'bob'));
    counts.push(tasks.running.length);
    await tasks.enter(visitor('ann', 'mia'));
    expect(tasks.count('ann', 'mia')).toBe(places > 1 ? 1 : 0);
  }
  expect(counts).toEqual(expected);
});

test('a visitor of a caller with a single place waits for one turn of each other', async () => {
  const tasks = new Tasks(new FairGate({ places: 2, maxWaiting: 100, taskNoun: 'tasks' }));
  for (const name of ['bob', 'bob', 'bob', 'mia', 'zoe', 'bob']) await tasks.enter(visitor('ann', name));
  const order: (string | undefined)[] = [];
  while (tasks.running.length > 0) {
    order.push(tasks.running[0]!.visitorId);
    await tasks.end(0);
  }
  expect(order).toEqual(['bob', 'mia', 'zoe', 'bob', 'bob', 'bob']);
});

test('a visitor gets a place although others come without end', async () => {
  const tasks = new Tasks(new FairGate({ places: 2, maxWaiting: 100, taskNoun: 'tasks' }));
  await tasks.enter(visitor('ann', 'mia'));
  await tasks.enter(visitor('ann', 'mia'));
  const mayPass = 2000;
  let passed = 0;
  do {
    await tasks.enter(visitor('ann', `new ${passed}`));
    await tasks.end(0);
  } while (tasks.running[0]?.visitorId !== 'mia' && ++passed < mayPass);
  expect(passed).toBeLessThan(mayPass);
});

test('of too many tasks, the last of the visitor with the most is refused', async () => {
  const gate = new FairGate({ places: 2, maxWaiting: 3, taskNoun: 'tasks' });
  const refused: string[] = [];
  for (const name of ['bob', 'bob', 'bob', 'mia', 'zoe', 'zoe'])
    void gate.enter(visitor('ann', name), NEVER).catch(() => refused.push(name));
  await settle();
  expect(refused).toEqual(['bob', 'zoe']);
});

test('no place is free while a visitor with a share waits, and the next place is of the one with the fewest', async () => {
  const CALLERS = ['ann', 'amy'].flatMap((userId) => ['bob', 'mia', 'zoe'].map((name) => visitor(userId, name)));
  const steps = fc.array(fc.tuple(fc.constantFrom('enter', 'end'), fc.nat(30)), { maxLength: 60, size: 'max' });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 20 }), steps, async (places, list) => {
      const tasks = new Tasks(new FairGate({ places, maxWaiting: 1000, taskNoun: 'tasks' }));
      const ofCaller = Math.ceil(halfOf(places) / 2);
      const mayStart = ({ userId, visitorId }: Caller) =>
        tasks.count(userId) < ofCaller && tasks.count(userId, visitorId) < halfOf(ofCaller);
      for (const [step, number] of list) {
        const before = [...tasks.waiting];
        if (step === 'enter') await tasks.enter(CALLERS[number % CALLERS.length]!);
        else if (tasks.running.length > 0) await tasks.end(number % tasks.running.length);
        for (const { userId, visitorId } of CALLERS) {
          expect(tasks.count(userId)).toBeLessThanOrEqual(ofCaller);
          expect(tasks.count(userId, visitorId)).toBeLessThanOrEqual(halfOf(ofCaller));
        }
        if (tasks.running.length < places) expect(tasks.waiting.filter(mayStart)).toEqual([]);
        const started = step === 'end' && tasks.waiting.length < before.length ? tasks.running.at(-1) : undefined;
        if (!started) continue;
        const fewest = Math.min(
          ...before
            .filter(({ userId }) => userId === started.userId)
            .map((one) => tasks.count(one.userId, one.visitorId)),
        );
        expect(tasks.count(started.userId, started.visitorId) - 1).toBeLessThanOrEqual(fewest);
      }
    }),
    { numRuns: 200 },
  );
});
