import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { ENTRANCE_SHARES } from '../../src/core/app-run.ts';
import type { ApiError } from '../../src/core/errors.ts';
import { FairGate, halfOf, threeQuartersOf, type Caller } from '../../src/core/fair-gate.ts';

const NEVER = new AbortController().signal;
const ANN: Caller = { tenantId: 'one', userId: 'ann' };
const AMY: Caller = { tenantId: 'one', userId: 'amy' };
const BEN: Caller = { tenantId: 'two', userId: 'ben' };

/** A gate whose tasks run until the test ends them. `running` names them in the order of their start. */
function createGate(places: number, maxWaiting = 100, maxPerTenant = places) {
  const gate = new FairGate({ places, maxPerTenant, maxWaiting, taskNoun: 'exports' });
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    running,
    /** Starts a task when the gate allows it. Returns the error of a task that is refused. */
    enter: (name: string, caller: Caller, signal = NEVER): Promise<unknown> =>
      gate
        .run(caller, signal, async () => {
          running.push(name);
          await new Promise<void>((resolve) => ends.set(name, resolve));
          running.splice(running.indexOf(name), 1);
        })
        .catch((error: unknown) => error),
    /** Ends a running task and waits until the next ones run. */
    async end(name: string): Promise<void> {
      ends.get(name)!();
      await settle();
    },
  };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

async function enterAll({ enter }: ReturnType<typeof createGate>, tasks: Record<string, Caller>) {
  const errors: Record<string, unknown> = {};
  for (const [name, caller] of Object.entries(tasks))
    void enter(name, caller).then((error) => {
      if (error) errors[name] = error;
    });
  await settle();
  return errors;
}

describe('places', () => {
  test('a caller occupies at most half of them', async () => {
    const gate = createGate(4);
    await enterAll(gate, { ann1: ANN, ann2: ANN, ann3: ANN, ann4: ANN });
    expect(gate.running).toEqual(['ann1', 'ann2']);
    await gate.end('ann1');
    expect(gate.running).toEqual(['ann2', 'ann3']);
  });

  test('the private runs of a user are a caller of their own, whose full queue refuses no other task of the user', async () => {
    const gate = createGate(4, 2);
    const ofRun: Caller = { ...ANN, ofPrivateRun: true };
    await enterAll(gate, { run1: ofRun, run2: ofRun, run3: ofRun, run4: ofRun });
    const errors = await enterAll(gate, { ann1: ANN, ann2: ANN, ann3: ANN });
    expect(gate.running).toEqual(['run1', 'run2', 'ann1', 'ann2']);
    expect(errors).toEqual({});
    await gate.end('ann1');
    expect(gate.running).toEqual(['run1', 'run2', 'ann2', 'ann3']);
  });

  test('a caller occupies a single place', async () => {
    const gate = createGate(1);
    await enterAll(gate, { ann1: ANN, ann2: ANN });
    expect(gate.running).toEqual(['ann1']);
  });

  test('another caller gets a place while the first one waits for more', async () => {
    const gate = createGate(4);
    await enterAll(gate, { ann1: ANN, ann2: ANN, ann3: ANN, amy1: AMY, ben1: BEN });
    expect(gate.running).toEqual(['ann1', 'ann2', 'amy1', 'ben1']);
  });

  test('a tenant with a limit leaves places to others, however many callers it has', async () => {
    const gate = createGate(8, 100, 4);
    await enterAll(gate, { ann1: ANN, ann2: ANN, ann3: ANN, amy1: AMY, amy2: AMY, amy3: AMY });
    expect(gate.running).toEqual(['ann1', 'ann2', 'amy1', 'amy2']);
    await enterAll(gate, { ben1: BEN });
    expect(gate.running).toEqual(['ann1', 'ann2', 'amy1', 'amy2', 'ben1']);
    await gate.end('ben1');
    expect(gate.running).toEqual(['ann1', 'ann2', 'amy1', 'amy2']);
    await gate.end('ann1');
    expect(gate.running).toEqual(['ann2', 'amy1', 'amy2', 'ann3']);
  });

  test.for([
    { places: 8, maxPerTenant: 6, ofCaller: 3 },
    { places: 20, maxPerTenant: 15, ofCaller: 7 },
    { places: 4, maxPerTenant: 2, ofCaller: 1 },
    { places: 2, maxPerTenant: 1, ofCaller: 1 },
  ])('a caller occupies at most half of the places of a tenant: $ofCaller of $maxPerTenant', async (limits) => {
    const { places, maxPerTenant, ofCaller } = limits;
    const gate = createGate(places, 100, maxPerTenant);
    await enterAll(gate, Object.fromEntries(Array.from({ length: places }, (_, n) => [`ann${n}`, ANN])));
    expect(gate.running).toHaveLength(ofCaller);
    await enterAll(gate, { amy: AMY });
    expect(gate.running.includes('amy')).toBe(ofCaller < maxPerTenant);
  });

  test('a tenant gets three quarters of them, and at least one', () => {
    expect([1, 2, 3, 4, 8, 20].map(threeQuartersOf)).toEqual([1, 1, 2, 3, 6, 15]);
  });

  test('the entrances of the apps of an owner have parts of the places of the owner, rounded up', async () => {
    for (const places of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 22, 32, 64]) {
      const maxPerTenant = threeQuartersOf(places);
      const ofOwner = halfOf(maxPerTenant);
      const gate = createGate(places, 1000, maxPerTenant);
      const tasks = Object.entries(ENTRANCE_SHARES).flatMap(([entrance, share]) =>
        Array.from({ length: places }, (_, n) => [
          `${entrance} ${n}`,
          { tenantId: 'one', userId: `ann ${entrance}`, share },
        ]),
      );
      await enterAll(gate, Object.fromEntries(tasks) as Record<string, Caller>);
      const counts = Object.keys(ENTRANCE_SHARES).map(
        (entrance) => gate.running.filter((name) => name.startsWith(entrance)).length,
      );
      if (ofOwner < 3) expect(gate.running).toHaveLength(Math.min(3, maxPerTenant));
      else expect(counts).toEqual([2, 4, 4].map((part) => Math.ceil(ofOwner / part)));
    }
  });

  test('a failed task frees its place', async () => {
    const gate = new FairGate({ places: 1, maxWaiting: 1, taskNoun: 'exports' });
    await expect(gate.run(ANN, NEVER, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    await expect(gate.run(ANN, NEVER, async () => 'ran')).resolves.toBe('ran');
  });
});

test('a place that is freed twice is one place', async () => {
  const gate = new FairGate({ places: 2, maxWaiting: 1, taskNoun: 'exports' });
  const [leaveAnn] = [await gate.enter(ANN, NEVER), await gate.enter(BEN, NEVER)];
  leaveAnn();
  leaveAnn();
  await gate.enter(ANN, NEVER);
  const third = gate.enter(AMY, NEVER).then(() => 'entered');
  await settle();
  await expect(Promise.race([third, Promise.resolve('waits')])).resolves.toBe('waits');
});

describe('turns', () => {
  test('tenants take turns at a single place, however many tasks one of them has', async () => {
    const gate = createGate(1);
    await enterAll(gate, { ann1: ANN, ann2: ANN, ann3: ANN, amy1: AMY, ben1: BEN, ben2: BEN });
    const order: string[] = [];
    for (let task = gate.running[0]; task; task = gate.running[0]) {
      order.push(task);
      await gate.end(task);
    }
    expect(order).toEqual(['ann1', 'ben1', 'amy1', 'ben2', 'ann2', 'ann3']);
  });

  test('a free place goes to the tenant that occupies the fewest', async () => {
    const gate = createGate(4);
    await enterAll(gate, { ann1: ANN, ann2: ANN, amy1: AMY, amy2: AMY, ann3: ANN, ben1: BEN });
    expect(gate.running).toEqual(['ann1', 'ann2', 'amy1', 'amy2']);
    await gate.end('ann1');
    expect(gate.running).toEqual(['ann2', 'amy1', 'amy2', 'ben1']);
  });
});

describe('waiting tasks', () => {
  test('leave the queue when their signal aborts', async () => {
    const gate = createGate(1);
    const controller = new AbortController();
    await enterAll(gate, { ann1: ANN });
    const aborted = gate.enter('ben1', BEN, controller.signal);
    await enterAll(gate, { amy1: AMY });
    controller.abort(new Error('left'));
    await expect(aborted).resolves.toMatchObject({ message: 'left' });
    await gate.end('ann1');
    expect(gate.running).toEqual(['amy1']);
  });

  test('too many are refused with the time to wait, at the caller with the most', async () => {
    const gate = createGate(1, 3);
    const errors = await enterAll(gate, { ann1: ANN, ann2: ANN, ann3: ANN, ann4: ANN, amy1: AMY, ben1: BEN });
    expect(Object.keys(errors)).toEqual(['ann4', 'ann3']);
    expect(errors['ann4']).toMatchObject({
      status: 503,
      message: 'Too many exports are waiting. Try again in 1 s',
      headers: { 'retry-after': '1' },
    } satisfies Partial<ApiError>);
  });

  test('a caller with as many waiting tasks as the others is refused last', async () => {
    const gate = createGate(1, 2);
    const errors = await enterAll(gate, { ann1: ANN, amy1: AMY, ben1: BEN, ben2: BEN });
    expect(Object.keys(errors)).toEqual(['ben2']);
  });
});

test('no place is free while a caller with a share waits, in any order of arrivals, ends and aborts', async () => {
  const CALLERS = [ANN, AMY, BEN];
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.tuple(fc.constantFrom('enter', 'end', 'abort'), fc.nat(20)), { maxLength: 60 }),
      async (places, steps) => {
        const gate = createGate(places, 1000);
        const waiting = new Map<string, { caller: Caller; controller: AbortController }>();
        const callerOf = new Map<string, Caller>();
        let count = 0;
        const check = () => {
          for (const name of gate.running) waiting.delete(name);
          const occupiedBy = (caller: Caller) => gate.running.filter((name) => callerOf.get(name) === caller).length;
          const share = Math.max(1, Math.floor(places / 2));
          expect(gate.running.length).toBeLessThanOrEqual(places);
          for (const caller of CALLERS) expect(occupiedBy(caller)).toBeLessThanOrEqual(share);
          if (gate.running.length < places)
            for (const { caller } of waiting.values()) expect(occupiedBy(caller)).toBe(share);
        };
        for (const [step, number] of steps) {
          if (step === 'enter') {
            const name = `task ${count++}`;
            const task = { caller: CALLERS[number % CALLERS.length]!, controller: new AbortController() };
            waiting.set(name, task);
            callerOf.set(name, task.caller);
            void gate.enter(name, task.caller, task.controller.signal);
          } else if (step === 'end') {
            const name = gate.running[number % Math.max(1, gate.running.length)];
            if (name) await gate.end(name);
          } else {
            const name = [...waiting.keys()][number % Math.max(1, waiting.size)];
            if (name) waiting.get(name)!.controller.abort(new Error('left'));
            if (name) waiting.delete(name);
          }
          await settle();
          check();
        }
        while (gate.running.length > 0) {
          await gate.end(gate.running[0]!);
          check();
        }
        expect(waiting.size).toBe(0);
      },
    ),
    { numRuns: 200 },
  );
});

test('a caller whose queue is full is refused, and no other one', async () => {
  const gate = new FairGate({
    places: 2,
    maxPerCaller: 1,
    maxWaiting: Infinity,
    maxWaitingPerCaller: 1,
    taskNoun: 'tasks',
  });
  const refused: string[] = [];
  const enter = (name: string, caller: Caller) => {
    void gate.enter(caller, NEVER).catch(() => refused.push(name));
    return settle();
  };
  for (const name of ['ann 1', 'ann 2', 'ann 3']) await enter(name, ANN);
  for (const name of ['amy 1', 'amy 2']) await enter(name, AMY);
  expect(refused).toEqual(['ann 3']);
});

test('a refused task waits by how long the tasks of its caller take, not the tasks of others', async () => {
  const gate = new FairGate({ places: 4, maxWaiting: 1, taskNoun: 'tasks' });
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  /** Returns when the last task of a caller may try again, which finds so many free places. */
  const secondsOf = async (caller: Caller, free: number) => {
    const tasks = Array.from({ length: free + 2 }, () => gate.enter(caller, NEVER));
    const error = await tasks.pop()!.catch((refusal: ApiError) => refusal);
    for (const task of tasks) (await task)();
    return (error as ApiError).headers?.['retry-after'];
  };
  const leave = await gate.enter(BEN, NEVER);
  const other = await gate.enter(BEN, NEVER);
  now.mockReturnValue(100_000);
  leave();
  expect([await secondsOf(ANN, 2), await secondsOf(BEN, 1)]).toEqual(['1', '20']);
  other();
  now.mockRestore();
});
