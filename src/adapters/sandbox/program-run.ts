import type * as IsolatedVm from 'isolated-vm';
import type { SandboxFailureReason, SandboxLog, SandboxPlace } from '../../core/sandbox.ts';
import { jsonViolation } from './json-bounds.ts';
import { createMasking } from './mask-secrets.ts';
import { ModuleLinker } from './module-linker.ts';
import { callNative } from './native-functions.ts';
import { ProgramCalls } from './program-calls.ts';
import { ProgramTimers } from './program-timers.ts';
import {
  MAX_CONCURRENT_CALLS,
  MAX_MESSAGE_CHARACTERS,
  PREPARE,
  type CallError,
  type FromSandbox,
  type Packed,
  type ProgramEnd,
  type ProgramOutput,
  type ProgramTask,
} from './sandbox-message.ts';
import { placesIn } from './stack-places.ts';

const MEBIBYTE = 1024 ** 2;
/** Minimum heap of an isolate. */
const MIN_HEAP_MB = 8;
/** The message of a module that cannot be compiled: the error and its place. */
const SYNTAX_ERROR = /^(SyntaxError: [^]*) \[([^[\]\n]+:\d+:\d+)\]$/;
const NO_SPACE = /^RangeError: Array buffer allocation failed/;
const LEVELS: readonly string[] = ['debug', 'info', 'warn', 'error'];

/** The value that crosses from the isolate: an output, or an error. */
type Crossed = ProgramOutput | { message: string; stack: string };

/** Thrown for a program that exceeds a limit. */
class LimitExceeded extends Error {
  readonly reason: SandboxFailureReason;

  constructor(reason: SandboxFailureReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Maximum number of texts and bytes in an output that cross as they are. */
const MAX_FLAT = 100;

/** One run of a program in a fresh isolate. */
export class ProgramRun {
  readonly #ivm: typeof IsolatedVm;
  readonly #snapshot: IsolatedVm.ExternalCopy<ArrayBuffer>;
  readonly #task: ProgramTask;
  readonly #send: (message: FromSandbox) => void;
  readonly #mask: (text: string) => string;
  readonly #calls: ProgramCalls;
  readonly #timers: ProgramTimers;
  readonly #exceeded = Promise.withResolvers<never>();
  readonly #startMemory = process.memoryUsage.rss();
  #peakMemory = 0;
  #logBytes = 0;
  #hasEnded = false;

  constructor(
    ivm: typeof IsolatedVm,
    snapshot: IsolatedVm.ExternalCopy<ArrayBuffer>,
    task: ProgramTask,
    send: (message: FromSandbox) => void,
  ) {
    this.#ivm = ivm;
    this.#snapshot = snapshot;
    this.#task = task;
    this.#mask = createMasking(task.secrets, task.mask);
    this.#send = (message) => {
      if (!this.#hasEnded) send(message);
    };
    this.#exceeded.promise.catch(() => {});
    const exceed = (message: string) => this.#exceed('host-calls', message);
    this.#calls = new ProgramCalls(ivm, task.limits, this.#send, exceed);
    this.#timers = new ProgramTimers(exceed);
  }

  get memoryBytes(): number {
    return this.#task.limits.memoryBytes;
  }

  get memoryMessage(): string {
    return `The program needs more than ${Math.round(this.memoryBytes / MEBIBYTE)} MB of memory`;
  }

  observeMemory(rss: number): void {
    this.#peakMemory = Math.max(this.#peakMemory, rss - this.#startMemory);
  }

  /** Ignores everything that the program does from now on. */
  abandon(): void {
    this.#hasEnded = true;
  }

  /** Passes the result of a host call on. */
  reply(call: number, result: Packed | CallError): void {
    this.#calls.reply(call, result);
  }

  /** Runs the program. Returns undefined if it was abandoned. */
  async start(): Promise<ProgramEnd | undefined> {
    const isolate = new this.#ivm.Isolate({
      snapshot: this.#snapshot,
      memoryLimit: Math.max(MIN_HEAP_MB, Math.ceil(this.memoryBytes / MEBIBYTE)),
      onCatastrophicError: () => this.#exceed('memory', this.memoryMessage),
    });
    const linker = new ModuleLinker(isolate, this.#task.modules);
    const end = await this.#end(isolate, linker);
    this.#timers.clear();
    if (this.#hasEnded) return undefined;
    this.#hasEnded = true;
    // A program that left host calls behind could receive their results.
    if (!end.isReusable || this.#calls.arePending) return { ...end, isReusable: false };
    isolate.dispose();
    return end;
  }

  async #end(isolate: IsolatedVm.Isolate, linker: ModuleLinker): Promise<ProgramEnd> {
    try {
      const ran = this.#run(isolate, linker).catch((error: unknown) => errorOf(error as Error));
      const crossed = await Promise.race([ran, this.#exceeded.promise]);
      this.#timers.clear();
      // This waits until the isolate is idle: a program can return and continue.
      const heap = await Promise.race([isolate.getHeapStatistics(), this.#exceeded.promise]);
      this.#peakMemory = Math.max(this.#peakMemory, heap.total_heap_size + heap.externally_allocated_size);
      if ('message' in crossed) return this.#failed('exception', crossed.message, crossed.stack);
      return { kind: 'done', output: this.#check(crossed), memoryBytes: this.#peakMemory, isReusable: true };
    } catch (error) {
      if (error instanceof LimitExceeded) return this.#failed(error.reason, error.message);
      return this.#failed('memory', this.memoryMessage);
    }
  }

  async #run(isolate: IsolatedVm.Isolate, linker: ModuleLinker): Promise<Crossed> {
    const context = isolate.createContextSync();
    const main = this.#prepare(context);
    const program = await linker.load(context, this.#task.entry);
    const input = new this.#ivm.ExternalCopy(this.#task.input).copyInto({ release: true });
    const result = { promise: true, copy: true } as const;
    return (await main.apply(undefined, [program.derefInto(), input], { result })) as Crossed;
  }

  /** Prepares the global object. Returns the function of the prelude that runs a program. */
  #prepare(context: IsolatedVm.Context): IsolatedVm.Reference<(...args: unknown[]) => unknown> {
    const { calls, isHandler, limits } = this.#task;
    const { hostCalls, hostBytes, logBytes, outputBytes } = limits;
    const { Callback, ExternalCopy, Reference } = this.#ivm;
    const guestLimits = {
      calls,
      hostCalls,
      hostBytes,
      logBytes,
      outputBytes,
      callsAtOnce: MAX_CONCURRENT_CALLS,
      messageCharacters: MAX_MESSAGE_CHARACTERS,
    };
    const bridge = [
      new Callback((level: string, text: string) => this.#log(level, text), { ignored: true }),
      new Callback((reason: string, message: string) => this.#exceed(reason, message), { ignored: true }),
      new Reference((name: string, kind: string, value: unknown, isSync: boolean) =>
        this.#calls.run(name, kind, value, isSync),
      ),
      ...(isHandler ? [new Callback(callNative), new Reference((ms: number) => this.#timers.sleep(ms))] : []),
    ];
    return context.evalClosureSync(
      `const prepare = globalThis[${JSON.stringify(PREPARE)}];
       delete globalThis[${JSON.stringify(PREPARE)}];
       return prepare({ __proto__: null, log: $1, exceed: $2, call: $3, native: $4, sleep: $5 }, $0);`,
      [new ExternalCopy(guestLimits).copyInto({ release: true }), ...bridge, ...(isHandler ? [] : [null, null])],
      { result: { reference: true } },
    ) as IsolatedVm.Reference<(...args: unknown[]) => unknown>;
  }

  /** Checks the value that crossed from the isolate, and encodes texts. */
  #check({ json, flat }: ProgramOutput): ProgramOutput {
    const { limits, textAs } = this.#task;
    let bytes = 0;
    const checked: Record<string, string | Uint8Array> = {};
    if (Object.keys(flat).length > MAX_FLAT)
      throw new LimitExceeded('output', `The output has more than ${MAX_FLAT} texts`);
    for (const [key, value] of Object.entries(flat)) {
      const encoded = typeof value === 'string' && textAs === 'bytes' ? Buffer.from(value) : value;
      bytes += typeof encoded === 'string' ? Buffer.byteLength(encoded) : encoded.byteLength;
      Object.defineProperty(checked, key, { value: encoded, enumerable: true });
    }
    bytes += json === null ? 0 : Buffer.byteLength(json);
    if (bytes > limits.outputBytes)
      throw new LimitExceeded('output', `The output has more than ${limits.outputBytes} bytes`);
    const violation = json === null ? undefined : jsonViolation(json);
    if (violation) throw new LimitExceeded('output', `The output ${violation}`);
    return { json, flat: checked };
  }

  #failed(reason: SandboxFailureReason, message: string, stack = ''): ProgramEnd {
    const { modules } = this.#task;
    const syntaxError = SYNTAX_ERROR.exec(message);
    if (syntaxError) return this.#failed(reason, syntaxError[1]!, `    at ${syntaxError[2]}`);
    const places: SandboxPlace[] = placesIn(stack, modules);
    if (NO_SPACE.test(message)) return this.#failed('memory', this.memoryMessage);
    const isReusable = reason === 'exception';
    const memoryBytes = reason === 'memory' ? this.memoryBytes : this.#peakMemory;
    // Twice the length, as a secret may cross the end.
    const start = message.slice(0, 2 * MAX_MESSAGE_CHARACTERS);
    const shortened = (reason === 'exception' ? this.#mask(start) : start).slice(0, MAX_MESSAGE_CHARACTERS);
    return { kind: 'failed', reason, message: shortened, places, memoryBytes, isReusable };
  }

  #exceed(reason: string, message: string): void {
    this.#exceeded.reject(new LimitExceeded(reason as SandboxFailureReason, message));
  }

  #log(level: string, logged: string): void {
    const space = this.#task.limits.logBytes - this.#logBytes;
    if (space <= 0 || !LEVELS.includes(level)) return;
    const text = this.#mask(logged);
    const bytes = Buffer.from(text);
    const cut = bytes.length > space ? bytes.toString('utf8', 0, space).replace(/(?<!\uFFFD)\uFFFD+$/, '') : text;
    this.#logBytes += bytes.length;
    this.#send({ kind: 'log', log: { level: level as SandboxLog['level'], text: cut } });
  }
}

/** Returns the parts that cross from the isolate of an error that isolated-vm has copied. */
function errorOf({ name, message, stack }: Error): Crossed {
  const text = String(message);
  return { message: name && name !== 'Error' ? `${name}: ${text}` : text, stack: String(stack).slice(text.length) };
}
