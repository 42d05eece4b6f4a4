/**
 * Query process: reads one uploaded file for one task, so that no query and no malicious file blocks or ends a process
 * of the service. This thread only watches. It ends the process when the parent's channel closes and when memory
 * exceeds the limit, and reports the number of rows, even while the other thread is busy.
 */
import { Worker } from 'node:worker_threads';
import { stackOf } from '../../process/program-error.ts';
import { programBeside } from '../../process/program.ts';
import { showSpare } from '../../process/spare-process.ts';
import type { RowCounter } from '../csv-encoder.ts';
import { reportRows } from '../row-reports.ts';
import { MAX_PROCESS_MEMORY, MEMORY_MESSAGE } from './limits.ts';
import type { FromProcess, ToProcess } from './work.ts';

const WATCH_MS = 50;
const HEAP_MB = 384;

const TOO_MUCH_MEMORY: FromProcess = { kind: 'refused', message: MEMORY_MESSAGE };

/** `process.exit` would wait for the other thread, which may never finish. */
const end = (): void => {
  process.kill(process.pid, 'SIGKILL');
};
const endWith = (message: FromProcess): void => {
  process.send?.(message, undefined, undefined, end);
};

process.umask(0o077);
const rowCounter: RowCounter = new Float64Array(new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT));
const worker = new Worker(programBeside(import.meta.url, 'serve-work'), {
  resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  workerData: { rowCounter },
});
worker.on('message', (message: FromProcess) => {
  process.send?.(message);
});
worker.on('error', (error: Error & { code?: string }) =>
  endWith(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? TOO_MUCH_MEMORY : { kind: 'broken', message: stackOf(error) }),
);

process.on('message', (message: ToProcess) => {
  showSpare(message.kind === 'prepare');
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  worker.postMessage(message);
});
process.on('disconnect', end);
// The parent may have ended before.
if (!process.connected) end();
process.on('SIGTERM', end);
reportRows(
  () => rowCounter[0]!,
  (rows) => process.send?.({ kind: 'rows', rows, bytes: rowCounter[1]! } satisfies FromProcess),
);
setInterval(() => {
  if (process.memoryUsage.rss() > MAX_PROCESS_MEMORY) endWith(TOO_MUCH_MEMORY);
}, WATCH_MS);
