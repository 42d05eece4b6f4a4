import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cancelled, upstreamFailed } from '../../../core/errors.ts';
import type { Segment } from '../../../core/row-source.ts';
import { databaseFiles } from '../../../core/table-file.ts';
import { withTimeout } from '../../../core/with-timeout.ts';
import { segmentName } from '../csv-encoder.ts';
import { SegmentQueue } from '../segment-files.ts';
import { SPILL_FOLDER, TABLE_FILE } from './limits.ts';
import { QueryProcess, type RowReceiver } from './one-process.ts';
import type { Job } from './work.ts';

/** Segments that a process can have begun without being reported: one being written, two in transit. */
const UNKNOWN_SEGMENTS = 3;

export interface WorkLimits {
  signal: AbortSignal;
  /** Milliseconds for the whole task. */
  timeout: number;
}

/**
 * Runs the task in a process, which has ended when this settles, and returns its result. After an abort or timeout,
 * the process is killed before this rejects with CANCELLED or UPSTREAM_FAILED ("query timeout …").
 */
export async function doWork(
  job: Job,
  limits: WorkLimits,
  receiver: RowReceiver = { onSegment: () => {}, onRows: () => {} },
  process = new QueryProcess(job.file),
): Promise<unknown> {
  try {
    return await doWorkIn(process, job, limits, receiver);
  } finally {
    await process.end();
  }
}

/** Runs the task in a process, which can then run another one for the same file, unless this rejects. */
export async function doWorkIn(
  process: QueryProcess,
  job: Job,
  limits: WorkLimits,
  receiver: RowReceiver = { onSegment: () => {}, onRows: () => {} },
): Promise<unknown> {
  const timeoutError = () => upstreamFailed(`query timeout after ${limits.timeout} ms`);
  try {
    return await withTimeout(limits.timeout, timeoutError, [limits.signal], (signal) =>
      process.run(job, signal, receiver),
    );
  } catch (error) {
    await process.end();
    if (limits.signal.aborted) throw cancelled(undefined, { cause: error });
    throw error;
  }
}

/**
 * Yields the segments of a job whose task is `segments`. Ending the iteration early kills the process. `track` receives
 * a promise that settles when the process has ended. `start` returns the process to use.
 */
export async function* segmentsOf(
  job: Job,
  dir: string,
  limits: WorkLimits,
  track: (working: Promise<void>) => void,
  onRows: RowReceiver['onRows'] = () => {},
  start?: () => QueryProcess,
): AsyncGenerator<Segment, void> {
  const queue = new SegmentQueue();
  const unacknowledged: (() => void)[] = [];
  const readerLeft = new AbortController();
  let announced = 0;
  const working = doWork(
    job,
    { ...limits, signal: AbortSignal.any([limits.signal, readerLeft.signal]) },
    {
      onSegment(segment, acknowledge) {
        // The process runs the SQL of users, so its loader must not take a file from elsewhere.
        if (dirname(segment.path) !== dir)
          return queue.fail(upstreamFailed('The source sent a file of another folder'));
        announced += 1;
        unacknowledged.push(acknowledge);
        queue.put(segment);
      },
      onRows,
    },
    start?.(),
  ).then(
    () => queue.end(),
    (error: unknown) => queue.fail(error),
  );
  track(working);
  try {
    for await (const segment of queue) {
      unacknowledged.shift()!();
      yield segment;
    }
  } finally {
    readerLeft.abort();
    await working;
    await queue.discard();
    for (let n = announced; n < announced + UNKNOWN_SEGMENTS; n++) await rm(join(dir, segmentName(n)), { force: true });
    if (announced === 0) for (const path of databaseFiles(join(dir, TABLE_FILE))) await rm(path, { force: true });
    await rm(join(dir, SPILL_FOLDER), { recursive: true, force: true });
  }
}
