import type { SandboxFailureReason, SandboxLimits, SandboxLog, SandboxPlace } from '../../core/sandbox.ts';

/** The part of a task that the process needs. */
export interface ProgramTask {
  modules: Readonly<Record<string, string>>;
  entry: string;
  input: unknown;
  /** Names of the host calls. */
  calls: readonly string[];
  isHandler: boolean;
  /** Texts that are masked before a line or a message leaves the process, and their replacements. */
  secrets: readonly string[];
  mask: string;
  textAs: 'string' | 'bytes';
  limits: SandboxLimits;
}

/** Property of the global object that the script of the prelude adds, until the first program removes it. */
export const PREPARE = 'sandbox:prepare';

/** The error of a host call. The code is '' if it has none. */
export interface CallError {
  error: string;
  code: string;
}

/** Argument or result of a host call, or output: a flat value, or the text of JSON. */
export type Packed = { text: string } | { bytes: Uint8Array } | { json: string };

/** Messages to a sandbox process. It runs one program at a time. */
export type ToSandbox =
  /** The script that runs before a program in its isolate, and one whose functions are compiled in advance. */
  | { kind: 'prepare'; prelude: string; warmUp: string }
  | { kind: 'run'; task: ProgramTask }
  | { kind: 'reply'; call: number; result: Packed | CallError };

/**
 * The output of a program: its values as JSON, and its texts and bytes by their key in the returned object. The key of a
 * whole output is ''.
 */
export interface ProgramOutput {
  json: string | null;
  flat: Readonly<Record<string, string | Uint8Array>>;
}

/** How a program ended. */
export type ProgramEnd =
  | { kind: 'done'; output: ProgramOutput; memoryBytes: number; isReusable: boolean }
  | {
      kind: 'failed';
      reason: SandboxFailureReason;
      message: string;
      places: readonly SandboxPlace[];
      memoryBytes: number;
      isReusable: boolean;
    };

/** Messages of a sandbox process. */
export type FromSandbox =
  /** The process can run programs. */
  | { kind: 'ready' }
  | { kind: 'log'; log: SandboxLog }
  | { kind: 'call'; call: number; name: string; argument: Packed }
  | ProgramEnd;

/** Maximum number of concurrent host calls of a program. */
export const MAX_CONCURRENT_CALLS = 20;
/** Maximum length of the message of a failure. */
export const MAX_MESSAGE_CHARACTERS = 2000;
