import type { Bridge, Native } from './bridge.ts';
import { structuredClone } from './web-clone.ts';
import { createTextGlobals } from './web-text.ts';
import { createTimerGlobals } from './web-timers.ts';
import { createUrlGlobals } from './web-url.ts';

/** Adds what handlers expect of a platform for the web, as far as it needs no network. */
export function addWebGlobals(native: Native, sleep: NonNullable<Bridge['sleep']>): void {
  const globals = {
    structuredClone,
    ...createTextGlobals(native),
    ...createTimerGlobals(sleep),
    ...createUrlGlobals(native),
  };
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}
