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
 * Keeps one child process ready, as starting one takes longer than a small task. A new spare starts when a process that was
 * taken has ended, and is ended when it is not taken for a minute. A process that read a file of a user is used once, so that
 * no two files share one, except that a task may return it for the next task on the same file. A spare does not keep its
 * parent running. Its program ends when the channel to the parent closes.
 */
export class SpareProcess {
  readonly #start: () => ChildProcess;
  readonly #prepare: Serializable;
  /** Processes that a new spare follows when they end. */
  readonly #taken = new WeakSet<ChildProcess>();
  #spare: { child: ChildProcess; file: string | null; idle: NodeJS.Timeout } | undefined;

  /** `start` starts a process with an IPC channel. A spare receives `prepare`, to load what a task will need. */
  constructor(start: () => ChildProcess, prepare: Serializable) {
    // The events of a process belong to no request, as it may outlive the one that starts it.
    this.#start = AsyncResource.bind(() => {
      const child = start();
      child.once('exit', () => this.#ended(child)).once('error', () => this.#forget(child));
      return child;
    });
    this.#prepare = prepare;
    all.add(this);
  }

  /** Returns a process for one task, on this file if there is one. The caller ends it, or returns it. */
  take(file: string | null = null): ChildProcess {
    const child = this.#takeSpare(file) ?? this.#start();
    this.#taken.add(child);
    return child;
  }

  /**
   * Keeps a process that was taken: for the next task on this file, or for any task if `file` is null. The caller has
   * removed its listeners. Returns false if that is not possible; then the caller ends it.
   */
  giveBack(child: ChildProcess, file: string | null): boolean {
    if (!keepsSpares || this.#spare || !isRunning(child)) return false;
    if (file === null) this.#taken.delete(child);
    this.#keep(child, file, file === null ? IDLE_MS : FILE_IDLE_MS);
    return true;
  }

  /** Ends the spare, if there is one. */
  end(): void {
    const child = this.#spare?.child;
    this.#forget(child);
    child?.kill('SIGKILL');
  }

  #takeSpare(file: string | null): ChildProcess | undefined {
    const spare = this.#spare;
    if (!spare || !isRunning(spare.child) || (spare.file !== null && spare.file !== file)) return undefined;
    this.#forget(spare.child);
    setRef(spare.child, true);
    return spare.child;
  }

  #ended(child: ChildProcess): void {
    this.#forget(child);
    if (!this.#taken.has(child) || !keepsSpares || this.#spare) return;
    const next = this.#start();
    next.send(this.#prepare, () => {});
    this.#keep(next, null, IDLE_MS);
  }

  #keep(child: ChildProcess, file: string | null, idle: number): void {
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
