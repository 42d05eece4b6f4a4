import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Sandbox, SandboxFailure, SandboxResult, SandboxTask } from '../../src/core/sandbox.ts';

export const MEBIBYTE = 1024 ** 2;

export const LIMITS: SandboxTask['limits'] = {
  timeoutMs: 55_000,
  memoryBytes: 64 * MEBIBYTE,
  outputBytes: MEBIBYTE,
  logBytes: 2000,
  hostCalls: 100,
  hostBytes: MEBIBYTE,
};

/** Returns a task whose module `main.js` has this code. */
export const taskOf = (code: string, more: Partial<SandboxTask> = {}): SandboxTask => ({
  caller: { tenantId: 'tenant', userId: 'user' },
  purpose: 'engine',
  modules: { 'main.js': code },
  entry: 'main.js',
  input: null,
  limits: LIMITS,
  signal: new AbortController().signal,
  ...more,
});

/** Runs the body of a `main(input, host)`. */
export const runBody = (sandbox: Sandbox, body: string, more: Partial<SandboxTask> = {}): Promise<SandboxResult> =>
  sandbox.run(taskOf(`export async function main(input, host) {\n${body}\n}`, more));

/** Runs a program that fails. Returns its failure. */
export async function failureOf(running: Promise<SandboxResult>): Promise<SandboxFailure> {
  try {
    await running;
  } catch (error) {
    return error as SandboxFailure;
  }
  throw new Error('The program did not fail');
}

/** Returns the ids of the sandbox processes that a process has started and that run. */
export async function sandboxProcesses(parent: number = process.pid): Promise<number[]> {
  const args = ['-P', String(parent), '-f', 'sandbox-program'];
  // The status of `pgrep` is 1 if there are none.
  const { stdout } = await promisify(execFile)('pgrep', args).catch(() => ({ stdout: '' }));
  return stdout.split('\n').filter(Boolean).map(Number);
}

/** A program that does not end. */
export const FOREVER = 'for (;;);';

/** Returns a host call, and a promise of its first use. */
export function recordingCall() {
  const called = Promise.withResolvers<unknown>();
  return {
    called: called.promise,
    report: async (value: unknown) => {
      called.resolve(value);
      return null;
    },
  };
}
