import type { Native } from './bridge.ts';
import { apply, copyOf, bytesOf, SavedRangeError, SavedTypeError, sizeOf } from './saved.ts';

/** Maximum number of characters and bytes in the arguments of a call: the process copies them. */
const MAX_SIZE = 16 * 1024 ** 2;

let bound: Native = () => null;

/** Sets the function of the process that `native` calls. */
export function bindNative(call: Native): void {
  bound = call;
}

/**
 * Runs a function of native-functions.ts by its name. Null stands for a failure. Throws for arguments that are neither texts,
 * bytes, numbers nor booleans, and for too large ones, before anything crosses to the process.
 */
export const native: Native = (...args) => {
  let size = 0;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i];
    const bytes = bytesOf(arg);
    if (typeof arg === 'string') size += arg.length;
    else if (bytes) size += sizeOf(bytes);
    else if (typeof arg === 'function' || typeof arg === 'symbol' || (typeof arg === 'object' && arg !== null))
      throw new SavedTypeError('The value is neither a text nor bytes');
    if (size > MAX_SIZE) throw new SavedRangeError('The text or the bytes are longer than 16 MiB');
    // Without the copy, its whole buffer would cross.
    if (bytes) args[i] = copyOf(bytes);
  }
  return apply(bound, undefined, args);
};
