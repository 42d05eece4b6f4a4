import { fork, type ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../../../core/config.ts';
import { badInput, cancelled, unavailable, upstreamFailed } from '../../../core/errors.ts';
import type { Segment } from '../../../core/row-source.ts';
import { withTimeout } from '../../../core/with-timeout.ts';
import { lowerProcessPriority } from '../../process/priority.ts';
import { segmentName } from '../csv-encoder.ts';
import { SegmentQueue } from '../segment-files.ts';
import { MEMORY_MESSAGE, SPILL_FOLDER } from './limits.ts';
import type { FromProcess, Job, ToProcess } from './work.ts';

/** The program: compiled beside the compiled parent, or a source run by Node's type stripping. */
const PROGRAM = fileURLToPath(new URL(`./main${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url));

/** Maximum length of the stderr of a crashed process in the log. */
const MAX_STDERR_LENGTH = 4000;

/** What V8 writes when it ends a process whose heap is exhausted too suddenly for an error. */
const HEAP_EXHAUSTED = /out of memory|Allocation failed/;

/** Segments that a process can have begun without being reported: one being written, two in transit. */
const UNKNOWN_SEGMENTS = 3;

/** Receives what a task `segments` reads. */
interface RowReceiver {
  /** Receives each segment and a function that acknowledges it. */
  onSegment(segment: Segment, acknowledge: () => void): void;
  /** Receives the number of rows read. */
  onRows(rows: number): void;
}

export interface WorkLimits {
  signal: AbortSignal;
  /** Milliseconds for the whole task. */
  timeout: number;
}

/**
 * Runs the task in a process and returns its result. After an abort or timeout, the process is killed
 * before this rejects with CANCELLED or UPSTREAM_FAILED ("query timeout …").
 */
export async function doWork(
  job: Job,
  limits: WorkLimits,
  receiver: RowReceiver = { onSegment: () => {}, onRows: () => {} },
): Promise<unknown> {
  const timeoutError = () => upstreamFailed(`query timeout after ${limits.timeout} ms`);
  try {
    return await withTimeout(limits.timeout, timeoutError, [limits.signal], (signal) =>
      runProcess(job, signal, receiver),
    );
  } catch (error) {
    if (limits.signal.aborted) throw cancelled(undefined, { cause: error });
    throw error;
  }
}

/**
 * Yields the segments of a job whose task is `segments`. Ending the iteration early kills the process. `track` receives
 * a promise that settles when the process has ended.
 */
export async function* segmentsOf(
  job: Job,
  dir: string,
  limits: WorkLimits,
  track: (working: Promise<void>) => void,
  onRows: (rows: number) => void = () => {},
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
        announced += 1;
        unacknowledged.push(acknowledge);
        queue.put(segment);
      },
      onRows,
    },
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
    await rm(join(dir, SPILL_FOLDER), { recursive: true, force: true });
  }
}

async function runProcess(job: Job, signal: AbortSignal, receiver: RowReceiver): Promise<unknown> {
  const child = fork(PROGRAM, {
    // In a separate process group, so that Ctrl-C reaches only the parent.
    detached: true,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    // No `--max-old-space-size`: it would replace the limit of the thread that reads the file.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: childEnvironment(),
  });
  lowerProcessPriority(child.pid);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).once('error', () => resolve());
  });
  const kill = () => {
    child.kill('SIGKILL');
  };
  signal.addEventListener('abort', kill, { once: true });
  const send = (message: ToProcess) => {
    if (child.connected) child.send(message, () => {});
  };
  try {
    signal.throwIfAborted();
    send({ kind: 'do', job });
    return await resultOf(child, receiver, () => send({ kind: 'taken' }));
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
    await exited;
  }
}

/** Returns the result of the process. Rejects if the process ends without one. */
function resultOf(child: ChildProcess, { onSegment, onRows }: RowReceiver, acknowledge: () => void): Promise<unknown> {
  let stderrTail = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderrTail = (stderrTail + text).slice(-MAX_STDERR_LENGTH);
  });
  return new Promise((resolve, reject) => {
    child.on('message', (message: FromProcess) => {
      if (message.kind === 'segment') onSegment(message.segment, acknowledge);
      if (message.kind === 'rows') onRows(message.rows);
      if (message.kind === 'result') resolve(message.value);
      if (message.kind === 'refused') reject(badInput(message.message));
      if (message.kind === 'unavailable') reject(unavailable(message.message));
      if (message.kind === 'broken') reject(new Error(`The query process failed: ${message.message}`));
    });
    child.once('error', (error) => reject(upstreamFailed('The query process could not be started', { cause: error })));
    child.once('exit', (code, signal) => {
      const cause = () => new Error(`${signal ?? `status ${code}`}: ${stderrTail}`);
      const rejectEnded = () =>
        reject(
          HEAP_EXHAUSTED.test(stderrTail)
            ? badInput(MEMORY_MESSAGE, { cause: cause() })
            : upstreamFailed('The file could not be read: its query process ended unexpectedly', { cause: cause() }),
        );
      // Its last message may still be in the channel.
      if (child.connected) child.once('disconnect', rejectEnded);
      else rejectEnded();
    });
  });
}
