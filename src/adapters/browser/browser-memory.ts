import { readFile } from 'node:fs/promises';
import type { DevTools } from './devtools.ts';

/** Linux counts memory in pages. */
const PAGE_BYTES = 4096;

/** Watches the memory of a browser until the returned function is called. Calls `onTooMuch` when it has more than `maxBytes`. */
export function watchMemory(devTools: DevTools, maxBytes: number, everyMs: number, onTooMuch: () => void): () => void {
  const pids: number[] = [];
  let isAsking = false;
  /** The browser knows its processes. While it does not respond, the last ones are watched. */
  const ask = async (): Promise<void> => {
    isAsking = true;
    try {
      const { processInfo } = await devTools.send<{ processInfo: { id: number }[] }>('SystemInfo.getProcessInfo');
      pids.splice(0, pids.length, ...processInfo.map(({ id }) => id));
    } catch {
      // It has ended, or has no such method.
    }
    isAsking = false;
  };
  return watchProcesses(pids, maxBytes, everyMs, onTooMuch, () => {
    if (!isAsking) void ask();
  });
}

/**
 * Watches the memory of processes until the returned function is called. Calls `onTooMuch` when they have more than
 * `maxBytes`. The list may change: `beforeLook` is called before each look.
 */
export function watchProcesses(
  pids: readonly number[],
  maxBytes: number,
  everyMs: number,
  onTooMuch: () => void,
  beforeLook: () => void = () => {},
): () => void {
  const look = async (): Promise<void> => {
    beforeLook();
    if ((await memoryOf(pids)) > maxBytes) onTooMuch();
  };
  const timer = setInterval(() => void look(), everyMs);
  return () => clearInterval(timer);
}

/** Returns the memory of processes in bytes. Shared memory counts once, as the largest share of one process. */
async function memoryOf(pids: readonly number[]): Promise<number> {
  let [own, shared] = [0, 0];
  for (const pid of pids) {
    // It may have ended.
    const [, resident = 0, ofOthers = 0] = (await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => ''))
      .split(' ')
      .map(Number);
    own += resident - ofOthers;
    shared = Math.max(shared, ofOthers);
  }
  return (own + shared) * PAGE_BYTES;
}
