import { vi } from 'vitest';
import { runCommand } from '../../src/server/cli/cli.ts';
import type { Service } from './service.ts';

/** Output of a command, and its exit code. */
export interface CommandResult {
  out: string[];
  err: string[];
  code: number;
}

/** Runs `dws` with these environment variables, in this process. */
export async function dws(variables: Record<string, string>, ...args: string[]): Promise<CommandResult> {
  const result: CommandResult = { out: [], err: [], code: 0 };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  vi.spyOn(console, 'log').mockImplementation((line: string) => void result.out.push(line));
  vi.spyOn(console, 'error').mockImplementation((line: string) => void result.err.push(line));
  // Help, version and errors of usage.
  for (const [stream, lines] of [[process.stdout, result.out] as const, [process.stderr, result.err] as const])
    vi.spyOn(stream, 'write').mockImplementation((text) => lines.push(...String(text).trimEnd().split('\n')) > 0);
  const exitCodeBefore = process.exitCode;
  process.exitCode = undefined;
  await runCommand(['node', 'dws', ...args]);
  result.code = Number(process.exitCode ?? 0);
  process.exitCode = exitCodeBefore;
  vi.restoreAllMocks();
  return result;
}

/** The environment variables of a command on the data of this service. */
export const variablesOf = ({ databaseUrl, platform }: Service) => ({
  DATABASE_URL: databaseUrl,
  DATA_DIR: platform.config.DATA_DIR,
  APP_SECRET: 'a secret for tests of enough characters',
});
