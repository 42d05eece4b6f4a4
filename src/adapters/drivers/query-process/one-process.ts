import type { ChildProcess } from 'node:child_process';
import { ColumnsChanged } from '../../../core/columns-changed.ts';
import { badInput, unavailable, upstreamFailed } from '../../../core/errors.ts';
import type { Segment } from '../../../core/row-source.ts';
import { programBeside } from '../../process/program.ts';
import { SpareProcess } from '../../process/spare-process.ts';
import { startProgram } from '../../process/start-program.ts';
import { MEMORY_MESSAGE } from './limits.ts';
import type { FromProcess, Job, ToProcess } from './work.ts';

const PROGRAM = programBeside(import.meta.url, 'main');

/** Maximum length of the stderr of a crashed process in the log. */
const MAX_STDERR_LENGTH = 4000;

/** Message of V8 when it ends a process whose heap is exhausted too suddenly for an error. */
const HEAP_EXHAUSTED = /out of memory|Allocation failed/;

// Without `--max-old-space-size`, which would replace the limit of the thread that reads the file.
const SPARE = new SpareProcess(() => startProgram(PROGRAM), { kind: 'prepare' } satisfies ToProcess);

/** Receives the rows that a task `segments` reads. */
export interface RowReceiver {
  /** Receives each segment and a function that acknowledges it. */
  onSegment(segment: Segment, acknowledge: () => void): void;
  /** Receives the number of rows read, and their bytes as CSV. */
  onRows(rows: number, bytes: number): void;
}

/** A query process. It reads one file. The code that created it ends it or returns it. */
export class QueryProcess {
  readonly #file: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  /** Rejects when the process ends or cannot be started. */
  readonly #failed: Promise<never>;

  /** Takes the spare process or starts one. */
  constructor(file: string) {
    this.#file = file;
    this.#child = SPARE.take(file);
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', () => resolve()).once('error', () => resolve());
    });
    this.#failed = failureOf(this.#child);
    this.#failed.catch(() => {});
  }

  /** Runs one task at a time and returns its result. An abort kills the process. Rejects if it ends without a result. */
  async run(job: Job, signal: AbortSignal, receiver: RowReceiver): Promise<unknown> {
    const kill = () => {
      this.#child.kill('SIGKILL');
    };
    signal.addEventListener('abort', kill, { once: true });
    try {
      signal.throwIfAborted();
      this.#send({ kind: 'do', job });
      return await Promise.race([this.#failed, this.#result(receiver)]);
    } finally {
      signal.removeEventListener('abort', kill);
    }
  }

  /** Kills the process and waits until it has ended. */
  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  /** Keeps the process for the next task on the same file, for a few seconds, or ends it. */
  async giveBack(): Promise<void> {
    if (!SPARE.giveBack(this.#child, this.#file)) await this.end();
  }

  #send(message: ToProcess): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #result({ onSegment, onRows }: RowReceiver): Promise<unknown> {
    const acknowledge = () => this.#send({ kind: 'taken' });
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const receive = (message: FromProcess) => {
      if (message.kind === 'segment') return onSegment(message.segment, acknowledge);
      if (message.kind === 'rows') return onRows(message.rows, message.bytes);
      this.#child.off('message', receive);
      if (message.kind === 'result') resolve(message.value);
      else reject(errorOf(message));
    };
    this.#child.on('message', receive);
    return promise;
  }
}

function errorOf(failure: Exclude<FromProcess, { kind: 'result' | 'segment' | 'rows' }>): Error {
  if (failure.kind === 'columns-changed') return new ColumnsChanged(failure.columns);
  if (failure.kind === 'refused') return badInput(failure.message);
  if (failure.kind === 'unavailable') return unavailable(failure.message);
  return new Error(`The query process failed: ${failure.message}`);
}

/** Returns a promise that rejects when the process ends or cannot be started. */
function failureOf(child: ChildProcess): Promise<never> {
  let stderrTail = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderrTail = (stderrTail + text).slice(-MAX_STDERR_LENGTH);
  });
  return new Promise((_, reject) => {
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
