import type { Bridge, GuestLimits } from './bridge.ts';
import { createConsole } from './guest-console.ts';
import { createHandlerHost } from './handler-main.ts';
import { createHost } from './host-calls.ts';
import { bindNative } from './native.ts';
import { describeError, packOutput } from './result.ts';
import { defineProperty, freeze } from './saved.ts';
import { structuredClone } from './web-clone.ts';
import { textGlobals } from './web-text.ts';
import { createTimerGlobals } from './web-timers.ts';
import { urlGlobals } from './web-url.ts';

/** Globals that give access to memory or other threads. */
const REMOVED = ['WebAssembly', 'SharedArrayBuffer', 'Atomics'];

/** Prepares the global object, and returns the function that runs a program. Runs before the modules of the program. */
export function prepare(bridge: Bridge, limits: GuestLimits): unknown {
  for (const name of REMOVED) delete (globalThis as Record<string, unknown>)[name];
  defineProperty(globalThis, 'console', {
    value: createConsole(bridge, limits),
    writable: true,
    configurable: true,
  });
  const { native, sleep } = bridge;
  const calls = createHost(bridge, limits);
  const host = native && sleep ? createHandlerHost(calls) : freeze(calls);
  if (native && sleep) {
    bindNative(native);
    addWebGlobals(sleep);
  }
  return async (main: (input: unknown, host: object) => unknown, input: unknown): Promise<object> => {
    try {
      return packOutput(await main(input, host), bridge, limits);
    } catch (error) {
      return describeError(error, limits);
    }
  };
}

/** Adds the globals that handlers expect of a platform for the web, except those that need a network. */
function addWebGlobals(sleep: NonNullable<Bridge['sleep']>): void {
  const globals = {
    structuredClone,
    ...textGlobals,
    ...createTimerGlobals(sleep),
    ...urlGlobals,
  };
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}
