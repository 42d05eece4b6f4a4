import { fork, type ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConcurrencyGate } from '../../../core/concurrency-gate.ts';
import { childEnvironment } from '../../../core/config.ts';
import { badInput, cancelled, upstreamFailed } from '../../../core/errors.ts';
import type { Segment } from '../../../core/row-source.ts';
import { segmentName } from '../csv-encoder.ts';
import { SegmentQueue } from '../segment-files.ts';
import { SPILL_FOLDER } from './limits.ts';
import type { FromProcess, Job, ToProcess } from './work.ts';

/** The program as it runs here: compiled beside the compiled parent, by Node's own type stripping beside the sources. */
const PROGRAM = fileURLToPath(new URL(`./main${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url));

/** Query processes of this process at once. Each may take a gigabyte. */
const PLACES = new ConcurrencyGate(3, 100, 'Too many queries wait for uploaded files');

/** Last words of a process that broke, for our own log. */
const STDERR_CHARACTERS = 4000;

/** Segments that a process can have begun without our knowing: one being written, two announced on the way. */
const UNKNOWN_SEGMENTS = 3;

export interface WorkLimits {
  signal: AbortSignal;
  /** Milliseconds for everything, the wait for a place included. */
  timeout: number;
}

/**
 * Has a process do the work and answers what it comes to. When the signal aborts or the time is up the process is killed before this
 * rejects with `cancelled` or `upstreamFailed` ("query timeout …"). `onSegment` gets each segment and how to say that it was taken.
 */
export async function doWork(
  job: Job,
  limits: WorkLimits,
  onSegment: (segment: Segment, taken: () => void) => void = () => {},
): Promise<unknown> {
  const clock = AbortSignal.timeout(Math.max(1, Math.round(limits.timeout)));
  const signal = AbortSignal.any([limits.signal, clock]);
  try {
    return await PLACES.run(signal, () => runProcess(job, signal, onSegment));
  } catch (error) {
    if (limits.signal.aborted) throw cancelled(undefined, { cause: error });
    if (clock.aborted) throw upstreamFailed(`query timeout after ${limits.timeout} ms`, { cause: error });
    throw error;
  }
}

/** The segments of a job whose work is `segments`. A reader that leaves ends the process. `track` gets what settles when the process is gone. */
export async function* segmentsOf(
  job: Job,
  dir: string,
  limits: WorkLimits,
  track: (working: Promise<void>) => void,
): AsyncGenerator<Segment, void> {
  const queue = new SegmentQueue();
  const waiting: (() => void)[] = [];
  const left = new AbortController();
  let announced = 0;
  const working = doWork(
    job,
    { ...limits, signal: AbortSignal.any([limits.signal, left.signal]) },
    (segment, taken) => {
      announced += 1;
      waiting.push(taken);
      queue.put(segment);
    },
  ).then(
    () => queue.end(),
    (error: unknown) => queue.fail(error),
  );
  track(working);
  try {
    for await (const segment of queue) {
      waiting.shift()!();
      yield segment;
    }
  } finally {
    left.abort();
    await working;
    await queue.discard();
    for (let n = announced; n < announced + UNKNOWN_SEGMENTS; n++) await rm(join(dir, segmentName(n)), { force: true });
    await rm(join(dir, SPILL_FOLDER), { recursive: true, force: true });
  }
}

async function runProcess(
  job: Job,
  signal: AbortSignal,
  onSegment: (segment: Segment, taken: () => void) => void,
): Promise<unknown> {
  const child = fork(PROGRAM, {
    // Of a group of its own: Ctrl-C reaches the parent, which decides. Its working folder is nobody's.
    detached: true,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    execArgv: ['--max-old-space-size=64', '--disable-warning=ExperimentalWarning'],
    env: childEnvironment(),
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).once('error', () => resolve());
  });
  const kill = () => {
    child.kill('SIGKILL');
  };
  signal.addEventListener('abort', kill, { once: true });
  const say = (message: ToProcess) => {
    if (child.connected) child.send(message, () => {});
  };
  try {
    signal.throwIfAborted();
    say({ kind: 'do', job });
    return await answerOf(child, (segment) => onSegment(segment, () => say({ kind: 'taken' })));
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
    await exited;
  }
}

/** What the process comes to. One that ends without a word was killed, by us or by what it read. */
function answerOf(child: ChildProcess, onSegment: (segment: Segment) => void): Promise<unknown> {
  let lastWords = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-STDERR_CHARACTERS);
  });
  return new Promise((resolve, reject) => {
    child.on('message', (message: FromProcess) => {
      if (message.kind === 'segment') onSegment(message.segment);
      if (message.kind === 'answer') resolve(message.value);
      if (message.kind === 'refused') reject(badInput(message.message));
      if (message.kind === 'broken') reject(new Error(`The query process failed: ${message.message}`));
    });
    child.once('error', (error) => reject(upstreamFailed('The query process could not be started', { cause: error })));
    child.once('exit', (code, signal) => {
      const cause = () => new Error(`${signal ?? `status ${code}`}: ${lastWords}`);
      const gone = () =>
        reject(upstreamFailed('The file could not be read: its query process ended unexpectedly', { cause: cause() }));
      // What it said last may still be in the channel.
      if (child.connected) child.once('disconnect', gone);
      else gone();
    });
  });
}
