import { AsyncResource } from 'node:async_hooks';
import type { ChildProcess, Serializable } from 'node:child_process';
import type { Socket } from 'node:net';

/** Milliseconds after which an unused spare is ended. */
const IDLE_MS = 60_000;
/** The same for a process that was returned for a file: the next task of an upload follows immediately. */
const FILE_IDLE_MS = 5_000;

/** Title of a spare in lists of processes. */
const SPARE_TITLE = 'dws spare process';

/** For the program of a spare: shows in lists of processes whether this process is a spare. */
export function showSpare(isSpare: boolean): void {
  if (isSpare) process.title = SPARE_TITLE;
  else if (process.title === SPARE_TITLE) process.title = [process.execPath, ...process.argv.slice(1)].join(' ');
}

const all = new Set<SpareProcess>();
let keepsSpares = false;

/** Lets this process keep spare processes from now on. Returns a function that ends them and keeps no others. */
export function keepSpares(): () => void {
  keepsSpares = true;
  return () => {
    keepsSpares = false;
    for (const spare of all) spare.end();
  };
}

/**
 * Keeps one child process ready, as starting one takes longer than a small task. A process is used once, so that no two
 * tasks share one, except that a task may return it for the next task on the same file. A new spare starts when a
 * process that was taken has ended, and is ended when it is not taken for a minute. A spare does not keep its parent
 * running. Its program ends when the channel to the parent closes.
 */
export class SpareProcess {
  readonly #start: () => ChildProcess;
  readonly #prepare: Serializable;
  #spare: { child: ChildProcess; file: string | null; idle: NodeJS.Timeout } | undefined;

  /** `start` starts a process with an IPC channel. A spare receives `prepare`, to load what a task will need. */
  constructor(start: () => ChildProcess, prepare: Serializable) {
    // The events of a process belong to no request, as it may outlive the one that starts it.
    this.#start = AsyncResource.bind(start);
    this.#prepare = prepare;
    all.add(this);
  }

  /** Returns a process for one task, on this file if there is one. The caller ends it, or returns it. */
  take(file: string | null = null): ChildProcess {
    const spare = this.#spare;
    if (spare && isRunning(spare.child) && (spare.file === null || spare.file === file)) {
      this.#forget(spare.child);
      setRef(spare.child, true);
      if (spare.file === null) this.#replaceWhenEnded(spare.child);
      return spare.child;
    }
    const child = this.#start();
    this.#replaceWhenEnded(child);
    return child;
  }

  /**
   * Keeps a process that was taken for the next task on the same file. Returns false if that is not possible; then the
   * caller ends it.
   */
  giveBack(child: ChildProcess, file: string): boolean {
    if (!keepsSpares || this.#spare || !isRunning(child)) return false;
    this.#keep(child, file, FILE_IDLE_MS);
    return true;
  }

  /** Ends the spare, if there is one. */
  end(): void {
    const child = this.#spare?.child;
    this.#forget(child);
    child?.kill('SIGKILL');
  }

  #replaceWhenEnded(taken: ChildProcess): void {
    taken.once('exit', () => {
      if (!keepsSpares || this.#spare) return;
      const child = this.#start();
      child.send(this.#prepare, () => {});
      this.#keep(child, null, IDLE_MS);
    });
  }

  #keep(child: ChildProcess, file: string | null, idle: number): void {
    const forget = () => this.#forget(child);
    child.prependOnceListener('exit', forget).prependOnceListener('error', forget);
    setRef(child, false);
    this.#spare = { child, file, idle: setTimeout(() => this.end(), idle).unref() };
  }

  #forget(child: ChildProcess | undefined): void {
    if (!this.#spare || this.#spare.child !== child) return;
    clearTimeout(this.#spare.idle);
    this.#spare = undefined;
  }
}

const isRunning = ({ connected, exitCode, signalCode }: ChildProcess): boolean =>
  connected && exitCode === null && signalCode === null;

/** Sets whether a child process keeps this one running. */
function setRef(child: ChildProcess, keeps: boolean): void {
  for (const handle of [child, child.channel, child.stderr as Socket | null])
    if (keeps) handle?.ref();
    else handle?.unref();
}
