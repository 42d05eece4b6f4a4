import type { Bridge } from './bridge.ts';

const OPTIONS = { result: { promise: true, copy: true } };

/** Creates the global functions for timers. Errors of their callbacks are logged. They end with the program. */
export function createTimerGlobals(sleep: NonNullable<Bridge['sleep']>): object {
  const active = new Set<number>();
  let last = 0;
  const call = (callback: unknown, args: readonly unknown[]): void => {
    try {
      (callback as (...args: unknown[]) => unknown)(...args);
    } catch (error) {
      // oxlint-disable-next-line no-console -- the log of the handler
      console.error(error);
    }
  };
  const wait = async (id: number, milliseconds: unknown): Promise<boolean> => {
    await sleep.apply(undefined, [Math.max(0, Number(milliseconds) || 0)], OPTIONS);
    return active.has(id);
  };
  const start = (run: (id: number) => Promise<void>): number => {
    const id = ++last;
    active.add(id);
    void run(id);
    return id;
  };
  const setTimeout = (callback: unknown, milliseconds?: unknown, ...args: unknown[]): number =>
    start(async (id) => {
      if ((await wait(id, milliseconds)) && active.delete(id)) call(callback, args);
    });
  const setInterval = (callback: unknown, milliseconds?: unknown, ...args: unknown[]): number =>
    start(async (id) => {
      while (await wait(id, Math.max(1, Number(milliseconds) || 0))) call(callback, args);
    });
  const clear = (id: number): void => {
    active.delete(id);
  };
  return {
    setTimeout,
    setInterval,
    clearTimeout: clear,
    clearInterval: clear,
    queueMicrotask: (callback: unknown) => void runSoon(call, callback),
  };
}

async function runSoon(call: (callback: unknown, args: readonly unknown[]) => void, callback: unknown): Promise<void> {
  await Promise.resolve();
  call(callback, []);
}
