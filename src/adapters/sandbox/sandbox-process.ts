import { AsyncResource } from 'node:async_hooks';
import { fork, type ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unavailable, upstreamFailed } from '../../core/errors.ts';
import { MASK } from '../../core/mask.ts';
import { SandboxFailure, type SandboxLog, type SandboxResult, type SandboxTask } from '../../core/sandbox.ts';
import { readGuestModules } from '../process/guest-modules.ts';
import { lowerProcessPriority, MANY_NICENESS } from '../process/priority.ts';
import { programBeside } from '../process/program.ts';
import { unprivilegedAccount } from '../process/unprivileged-account.ts';
import { joinGuestModules } from './guest-script.ts';
import { HostCalls } from './host-calls.ts';
import { PREPARE, type FromSandbox, type ProgramEnd, type ProgramOutput, type ToSandbox } from './sandbox-message.ts';
import { WARM_UP } from './warm-up.ts';

const PROGRAM = programBeside(import.meta.url, 'sandbox-program');
const START_TIMEOUT_MS = 20_000;
/**
 * Maximum heap of the process in addition to the heap of the program: copies of input, output and arguments of calls.
 */
const OWN_HEAP_MB = 256;
/** Maximum length of the stderr of a crashed process in the log. */
const MAX_STDERR_LENGTH = 4000;
/** Message of V8 when it ends a process whose memory is exhausted. */
const MEMORY_EXHAUSTED = /out of memory|Allocation failed|invalid (table|array|size)/i;

let prelude: string | undefined;

/** A sandbox process. It runs one program at a time, and can be used again while it is healthy. */
export class SandboxProcess {
  readonly #child: ChildProcess;
  /** Resolves with the reason when the process has ended or could not be started. */
  readonly ended: Promise<Error>;
  readonly #ready: Promise<void>;
  /** Whether it can run another program. */
  isHealthy = true;

  constructor() {
    this.#child = startProcess();
    this.ended = endOf(this.#child);
    void this.ended.then(() => {
      this.isHealthy = false;
    });
    this.#ready = new Promise((resolve) => {
      this.#child.once('message', () => resolve());
    });
    prelude ??= readPrelude();
    this.#send({ kind: 'prepare', prelude, warmUp: WARM_UP });
  }

  /** Runs a program. Throws `SandboxFailure` and the reason of the signal. Any other end than a result kills the process. */
  async run(task: SandboxTask, signal: AbortSignal): Promise<SandboxResult> {
    const logs: SandboxLog[] = [];
    const ended = this.ended.then((cause): never => {
      const isMemory = MEMORY_EXHAUSTED.test(cause.message);
      const message = isMemory ? memoryMessage(task) : 'The process of the program ended unexpectedly';
      throw Object.assign(new SandboxFailure(isMemory ? 'memory' : 'crash', message, { logs }), { cause });
    });
    ended.catch(() => {});
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason as Error);
    aborted.promise.catch(() => {});
    signal.addEventListener('abort', abort, { once: true });
    this.setRef(true);
    const hostCalls = new HostCalls(task.host ?? {}, (call, result) => this.#send({ kind: 'reply', call, result }));
    const { promise: sent, resolve: receiveEnd } = Promise.withResolvers<ProgramEnd>();
    // Host calls belong to the trace of the run, not to the request that started the process.
    const receive = AsyncResource.bind((message: FromSandbox) => {
      if (message.kind === 'log') logs.push(message.log);
      else if (message.kind === 'call') hostCalls.start(message);
      else if (message.kind !== 'ready') receiveEnd(message);
    });
    let isDone = false;
    try {
      signal.throwIfAborted();
      await withClock(START_TIMEOUT_MS, startError, [this.#ready, this.#startFailure(), aborted.promise]);
      const start = performance.now();
      task.onStart?.();
      const { timeoutMs } = task.limits;
      const timeout = () => new SandboxFailure('timeout', `The program ran longer than ${timeoutMs} ms`, { logs });
      this.#child.on('message', receive);
      this.#send(runMessage(task));
      const end = await withClock(timeoutMs, timeout, [sent, ended, aborted.promise]);
      isDone = end.isReusable;
      if (end.kind === 'failed') throw new SandboxFailure(end.reason, end.message, { ...end, logs });
      const durationMs = performance.now() - start;
      return { output: outputOf(end.output), logs, memoryBytes: end.memoryBytes, durationMs };
    } finally {
      // However the run ends: a process that was killed no longer sends anything.
      hostCalls.abort();
      this.#child.off('message', receive);
      signal.removeEventListener('abort', abort);
      if (!isDone) this.kill();
      if (this.isHealthy) this.setRef(false);
    }
  }

  /** Ends the process. */
  kill(): void {
    this.isHealthy = false;
    this.#child.kill('SIGKILL');
  }

  /** Sets whether the process keeps the service running. */
  setRef(keeps: boolean): void {
    for (const handle of [this.#child, this.#child.channel, this.#child.stderr as Socket | null])
      if (keeps) handle?.ref();
      else handle?.unref();
  }

  async #startFailure(): Promise<never> {
    throw startError(await this.ended);
  }

  #send(message: ToSandbox): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }
}

/** Returns the message that runs a task. */
function runMessage(task: SandboxTask): ToSandbox {
  const { modules, entry, input, isHandler = false, secrets = [], textAs = 'string', limits } = task;
  const calls = Object.keys(task.host ?? {});
  return { kind: 'run', task: { modules, entry, input, calls, isHandler, secrets, mask: MASK, textAs, limits } };
}

const startError = (cause?: Error) => upstreamFailed('The sandbox could not be started', { cause });
/** Thrown to programs that run when the service stops. */
export const stoppingError = () => unavailable('The service is stopping');

const memoryMessage = ({ limits }: SandboxTask) =>
  `The program needs more than ${Math.round(limits.memoryBytes / 1024 ** 2)} MB of memory`;

/** Returns the first result of the promises. Throws the error when the time is over. */
async function withClock<T>(
  milliseconds: number,
  createError: () => Error,
  promises: readonly Promise<T>[],
): Promise<Awaited<T>> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(createError()), milliseconds);
  try {
    return await Promise.race([...promises, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Joins the JSON values and the flat values of an output. */
function outputOf({ json, flat }: ProgramOutput): unknown {
  if (Object.hasOwn(flat, '')) return flat[''];
  const value: unknown = json === null ? null : JSON.parse(json);
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  // Spreading defines properties; it sets no prototype.
  return isRecord ? { ...value, ...flat } : value;
}

const readPrelude = (): string =>
  joinGuestModules(readGuestModules(import.meta.url, 'guest', 'prelude').modules, 'prelude', 'prepare', PREPARE);

function startProcess(): ChildProcess {
  const library = createRequire(import.meta.url).resolve('isolated-vm');
  const loader = createRequire(library).resolve('node-gyp-build');
  const account = unprivilegedAccount();
  const readable = [dirname(fileURLToPath(PROGRAM)), dirname(library), dirname(loader), '/etc/alpine-release'];
  const child = fork(PROGRAM, [library, account ? `${account.uid}:${account.gid}` : ''], {
    // In a separate process group, so that Ctrl-C reaches only the parent.
    detached: true,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    execArgv: [
      '--permission',
      '--allow-addons',
      ...readable.map((path) => `--allow-fs-read=${path}`),
      `--max-old-space-size=${OWN_HEAP_MB}`,
      '--no-node-snapshot',
      '--disable-warning=ExperimentalWarning',
      '--disable-warning=SecurityWarning',
    ],
    env: {},
  });
  lowerProcessPriority(child.pid, MANY_NICENESS);
  return child;
}

/** Resolves when the process has ended, with its status and the end of its stderr. */
function endOf(child: ChildProcess): Promise<Error> {
  let stderrTail = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderrTail = (stderrTail + text).slice(-MAX_STDERR_LENGTH);
  });
  return new Promise((resolve) => {
    child.once('error', resolve);
    // `close` follows `exit` and the end of stderr.
    child.once('close', (code, signal) => {
      const resolveEnded = () => resolve(new Error(`${signal ?? `status ${code}`}: ${stderrTail}`));
      // Its last message may still be in the channel.
      if (child.connected) child.once('disconnect', resolveEnded);
      else resolveEnded();
    });
  });
}
