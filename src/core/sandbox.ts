import type { Caller } from './fair-gate.ts';

/** The limits of a program in the sandbox. */
export interface SandboxLimits {
  /** Maximum time from the start of the program to its end, with its host calls, in milliseconds. */
  timeoutMs: number;
  /** Maximum memory of the program's heap, in bytes. */
  memoryBytes: number;
  /** Maximum size of the output as UTF-8, in bytes. */
  outputBytes: number;
  /** Maximum size of everything that the program logs as UTF-8, in bytes. The rest is cut. */
  logBytes: number;
  /** Maximum number of host calls. At most 20 run concurrently; further ones wait. */
  hostCalls: number;
  /** Maximum size of the arguments and results of all host calls, in bytes. */
  hostBytes: number;
}

/** A line that a program logged. */
export interface SandboxLog {
  level: 'debug' | 'info' | 'warn' | 'error';
  text: string;
}

/**
 * A function of the service that a program may call. Takes and returns a text, bytes, or JSON values. The message of its
 * error is thrown in the program.
 */
export type HostCall = (argument: unknown, signal: AbortSignal) => Promise<unknown>;

/** The error of a host call with a code, which the program sees as `error.code`. */
export class HostCallError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Handlers of apps, handlers that a handler calls, and those that these call. */
type HandlerPurpose = 'handler' | 'called' | 'nested';

/**
 * The purposes of the places in which programs run. Programs of one purpose never wait for programs of another. They
 * are handlers, handlers in private runs, and template engines. Private programs also share no process with programs of
 * other callers.
 */
export type SandboxPurpose = HandlerPurpose | `private-${HandlerPurpose}` | 'engine';

/** A program and its input. */
export interface SandboxTask {
  /** The caller that it runs for. Callers share the processes fairly. */
  caller: Caller;
  purpose: SandboxPurpose;
  /**
   * Whether it has the functions of handlers: `host.handle`, and globals such as `URL`, `TextEncoder` and `setTimeout`.
   */
  isHandler?: boolean;
  /** JavaScript modules by their path, e.g. `main.js`. They import each other by relative paths. */
  modules: Readonly<Record<string, string>>;
  /** The module whose export `main(input, host)` is called and awaited, once all modules have been evaluated. */
  entry: string;
  /** Argument of `main`: JSON values, and `Uint8Array` for bytes. */
  input: unknown;
  /**
   * Host calls by their name: `await host.asset('logo.png')`, or `host.asset.sync('logo.png')`, which stops the program
   * until the result is there.
   */
  host?: Readonly<Record<string, HostCall>>;
  /** Texts that are masked in logged lines and in the messages of exceptions, if they have at least 4 characters. */
  secrets?: readonly string[];
  /** Default: `string`. */
  textAs?: 'string' | 'bytes';
  limits: SandboxLimits;
  signal: AbortSignal;
  /** Called when the program starts, after the wait for a place. */
  onStart?(): void;
}

/** The result of a program. */
export interface SandboxResult {
  /**
   * The result of `main`. A text and bytes, alone or as a property of the returned object, may have any size; texts are
   * `Uint8Array`s of UTF-8 if `textAs` is `bytes`. Everything else is JSON values: at most 100,000 in 64 levels.
   */
  output: unknown;
  logs: SandboxLog[];
  /** Memory that the program took, as the greater of its heap at the end and the growth of its process, in bytes. */
  memoryBytes: number;
  /** Time from the start of the program to its end, in milliseconds. */
  durationMs: number;
}

/** Why a program ended without a result. */
export type SandboxFailureReason = 'exception' | 'timeout' | 'memory' | 'output' | 'host-calls' | 'crash';

/** A place in the code of a program, from 1. */
export interface SandboxPlace {
  module: string;
  line: number;
  column: number;
}

/** Thrown by `Sandbox.run` for a program that did not end with a result. Abortion throws the reason of the signal instead. */
export class SandboxFailure extends Error {
  readonly reason: SandboxFailureReason;
  /** Where the exception was thrown, the innermost place first. */
  readonly places: readonly SandboxPlace[];
  readonly logs: readonly SandboxLog[];
  /** As in `SandboxResult`; 0 for a program whose process was killed. */
  readonly memoryBytes: number;

  constructor(
    reason: SandboxFailureReason,
    message: string,
    details: Partial<Pick<SandboxFailure, 'places' | 'logs' | 'memoryBytes'>> = {},
  ) {
    super(message);
    this.reason = reason;
    this.places = details.places ?? [];
    this.logs = details.logs ?? [];
    this.memoryBytes = details.memoryBytes ?? 0;
  }
}

/** Runs programs of users in processes of their own, without access to the network, files or environment. */
export interface Sandbox {
  /** Runs a program. Throws `SandboxFailure`, UNAVAILABLE when too many programs wait, and the reason of an aborted signal. */
  run(task: SandboxTask): Promise<SandboxResult>;
  close(): Promise<void>;
}
