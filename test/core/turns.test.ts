import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Dispatcher, type WaitingUser } from '../../src/adapters/queue/dispatcher.ts';
import { FairGate, halfOf, type Caller } from '../../src/core/fair-gate.ts';
import type { QueuedWork } from '../../src/core/operations.ts';

/* The order in which callers of a gate and users of a queue get places, in any order of events. */

const CALLERS: Caller[] = [
  { tenantId: 'one', userId: 'ann' },
  { tenantId: 'one', userId: 'amy' },
  { tenantId: 'one', userId: 'abe' },
  { tenantId: 'two', userId: 'ben' },
  { tenantId: 'two', userId: 'bob' },
  { tenantId: 'three', userId: 'cat' },
];

interface Task {
  caller: Caller;
  ended: Promise<void>;
  end(): void;
  controller: AbortController;
}

function createTask(caller: Caller): Task {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { caller, ended: promise, end: resolve, controller: new AbortController() };
}

const settle = async () => {
  for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve));
};

/** Judges each start by a full record of who runs, who waits and who had which turn. */
class Oracle {
  readonly running: Task[] = [];
  readonly waiting: Task[] = [];
  readonly failures: string[] = [];
  readonly #perTenant: number;
  readonly #lastTurns = new Map<string, number>();
  /** The users who got a place of the tenant while a caller waited without one. */
  readonly #passing = new Map<Caller, Caller[]>();
  #turn = 0;

  constructor(perTenant: number) {
    this.#perTenant = perTenant;
  }

  #held(key: 'tenantId' | 'userId', { [key]: id }: WaitingUser): number {
    return this.running.filter(({ caller }) => caller[key] === id).length;
  }

  #isWaiting(caller: Caller): boolean {
    return this.waiting.some((task) => task.caller === caller);
  }

  /** Whether a caller waits and is below its limits. */
  mayStart(caller: Caller): boolean {
    const [ofTenant, ofUser] = [this.#held('tenantId', caller), this.#held('userId', caller)];
    return this.#isWaiting(caller) && ofTenant < this.#perTenant && ofUser < halfOf(this.#perTenant);
  }

  /** Whether a caller has to get a place before another one. */
  #precedes(one: Caller, other: Caller): boolean {
    const key = one.tenantId === other.tenantId ? 'userId' : 'tenantId';
    const [held, ofOther] = [this.#held(key, one), this.#held(key, other)];
    const turnOf = ({ [key]: id }: Caller) => this.#lastTurns.get(id) ?? 0;
    return held < ofOther || (held === ofOther && turnOf(one) < turnOf(other));
  }

  /** Judges a start. `others` are those who could start instead. */
  start(task: Task, others: readonly Caller[] = CALLERS): Promise<void> {
    const { caller } = task;
    if (!this.mayStart(caller)) this.failures.push(`${caller.userId} starts past a limit`);
    for (const other of others)
      if (this.mayStart(other) && this.#precedes(other, caller))
        this.failures.push(`${caller.userId} starts before ${other.userId}`);
    this.remove(task);
    this.running.push(task);
    this.#turn++;
    for (const id of [caller.tenantId, caller.userId]) this.#lastTurns.set(id, this.#turn);
    this.#countPassing(caller);
    return task.ended;
  }

  /** Checks that a caller without a place waits for at most one turn of each other user of the tenant. */
  #countPassing(caller: Caller): void {
    this.#passing.delete(caller);
    for (const other of CALLERS) {
      if (other.tenantId !== caller.tenantId || !this.#isWaiting(other) || this.#held('userId', other) > 0) continue;
      const passing = this.#passing.get(other) ?? [];
      if (passing.includes(caller)) this.failures.push(`${caller.userId} passes ${other.userId} again`);
      this.#passing.set(other, [...passing, caller]);
    }
  }

  /** Removes a task that waits no longer. */
  remove(task: Task): void {
    this.waiting.splice(this.waiting.indexOf(task), 1);
    if (!this.#isWaiting(task.caller)) this.#passing.delete(task.caller);
  }

  end(task: Task): void {
    this.running.splice(this.running.indexOf(task), 1);
    task.end();
  }
}

/** The scheduler under test. It reports each start to the oracle. */
interface Tested {
  enter(task: Task): void;
  /** Performs other steps by their names. A task that enters is new, others wait. */
  steps: Record<string, (task: Task) => void>;
  close?(): void;
}
type Open = (oracle: Oracle, places: number, perTenant: number) => Tested;

/** Runs random steps, and ends all tasks. After each step no place is free while a caller below its limits waits. */
const expectTurns = (kinds: string[], open: Open) =>
  fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.tuple(fc.constantFrom('enter', 'end', ...kinds), fc.nat(30)), { maxLength: 80, size: 'max' }),
      async (places, perTenant, list) => {
        const oracle = new Oracle(perTenant);
        const tested = open(oracle, places, perTenant);
        const check = async () => {
          await settle();
          expect(oracle.failures).toEqual([]);
          if (oracle.running.length < places) expect(CALLERS.filter((caller) => oracle.mayStart(caller))).toEqual([]);
        };
        const enter = (task: Task, how = tested.enter) => {
          oracle.waiting.push(task);
          how(task);
        };
        for (const [step, number] of list) {
          const pick = (tasks: Task[]) => tasks[number % Math.max(1, tasks.length)];
          if (step.startsWith('enter')) enter(createTask(CALLERS[number % CALLERS.length]!), tested.steps[step]);
          else {
            const task = pick(step === 'end' ? oracle.running : oracle.waiting);
            if (task && step === 'end') oracle.end(task);
            else if (task) tested.steps[step]!(task);
          }
          await check();
        }
        while (oracle.running.length > 0) {
          oracle.end(oracle.running[0]!);
          await check();
        }
        tested.close?.();
        expect(oracle.waiting).toEqual([]);
      },
    ),
    { numRuns: 300 },
  );

const openGate: Open = (oracle, places, maxPerTenant) => {
  const gate = new FairGate({ places, maxPerTenant, maxPerCaller: places, maxWaiting: 1000, taskNoun: 'tasks' });
  return {
    enter(task) {
      gate.run(task.caller, task.controller.signal, () => oracle.start(task)).catch(() => {});
    },
    steps: {
      leave(task) {
        oracle.remove(task);
        task.controller.abort();
      },
    },
  };
};

const openQueue: Open = (oracle, concurrency, perTenant) => {
  let queue: Task[] = [];
  let listed: Caller[] = [];
  /** The oldest tasks, whose transactions are committed after the queue was read and before the next one is fetched. */
  const late: Task[] = [];
  const take = (task: Task) => {
    queue = queue.filter((other) => other !== task);
  };
  const dispatcher = new Dispatcher<QueuedWork & { task: Task }, Caller>({
    concurrency,
    perTenant,
    async list() {
      listed = [...new Set(queue.map(({ caller }) => caller))];
      return { users: listed, nextInMs: null };
    },
    async fetch(user, users) {
      queue.unshift(...late.splice(0));
      const task = queue.find(({ caller }) => caller === user || !users.includes(caller));
      if (!task) return null;
      take(task);
      return { ...task.caller, task, workId: '', operation: 'job.run' };
    },
    giveBack: async ({ task }) => void queue.push(task),
    run: ({ task }) => oracle.start(task, listed),
    onError: (error) => oracle.failures.push(String(error)),
  });
  return {
    enter(task) {
      queue.push(task);
      dispatcher.wake();
    },
    steps: {
      'enter late'(task) {
        late.push(task);
        if (oracle.running.length > 0) oracle.end(oracle.running[0]!);
        // There may be nothing to fetch.
        setImmediate(() => {
          queue.push(...late.splice(0));
          dispatcher.wake();
        });
      },
      'start elsewhere'(task) {
        oracle.remove(task);
        take(task);
      },
    },
    close: () => void dispatcher.stop(),
  };
};

describe('a free place goes to who holds the fewest, then to who had no turn for longest,', () => {
  test('at a gate', () => expectTurns(['enter', 'leave'], openGate));

  test('in a queue', () => expectTurns(['enter', 'enter late', 'start elsewhere'], openQueue));
});

test('a caller gets a place although others come without end', async () => {
  const gate = new FairGate({ places: 1, maxWaiting: 1000, taskNoun: 'tasks' });
  const [ann] = CALLERS;
  const never = new AbortController().signal;
  let leave = await gate.enter(ann!, never);
  let hasWaited = false;
  void gate.enter(ann!, never).then(() => {
    hasWaited = true;
  });
  for (let n = 0; !hasWaited && n <= 3000; n++) {
    const next = gate.enter({ tenantId: 'one', userId: `${n}` }, never);
    leave();
    await settle();
    if (!hasWaited) leave = await next;
  }
  expect(hasWaited).toBe(true);
});
