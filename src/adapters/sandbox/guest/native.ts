import type { Native } from './bridge.ts';

let bound: Native = () => null;

/** Sets the function of the process that `native` calls. */
export function bindNative(call: Native): void {
  bound = call;
}

/** Runs a function of native-functions.ts by its name. Never throws; null stands for a failure. */
export const native: Native = (name, ...args) => bound(name, ...args);
