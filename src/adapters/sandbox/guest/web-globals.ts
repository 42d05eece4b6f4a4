import type { Bridge } from './bridge.ts';
import { structuredClone } from './web-clone.ts';
import { textGlobals } from './web-text.ts';
import { createTimerGlobals } from './web-timers.ts';
import { urlGlobals } from './web-url.ts';

/** Adds what handlers expect of a platform for the web, as far as it needs no network. */
export function addWebGlobals(sleep: NonNullable<Bridge['sleep']>): void {
  const globals = {
    structuredClone,
    ...textGlobals,
    ...createTimerGlobals(sleep),
    ...urlGlobals,
  };
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}
