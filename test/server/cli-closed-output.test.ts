import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { builtMain } from '../support/built-service.ts';
import { variablesOf } from '../support/command.ts';
import { test } from '../support/fixture.ts';

/** Runs the built `dws`. Returns its exit code and what it prints to standard error. */
async function run(variables: Record<string, string>, args: string[], isRead: boolean) {
  const env = { ...process.env, ...variables, NODE_ENV: 'production' };
  const child = spawn(process.execPath, [builtMain(), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  if (isRead) child.stdout.resume();
  else child.stdout.destroy();
  const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { err, code: code as number };
}

test('a command whose reader has left ends as it does for a reader, without a stack', async ({ service }) => {
  const variables = variablesOf(service);
  for (const args of [['doctor'], ['doctor', '--json'], ['schema', 'print'], ['tenant', 'list'], ['--help']]) {
    const [read, left] = [await run(variables, args, true), await run(variables, args, false)];
    expect({ args, ...left }).toEqual({ args, ...read });
    expect(left.err).not.toMatch(/EPIPE| at /);
  }
});

test('a command does its work when its reader has left', async ({ service }) => {
  const variables = variablesOf(service);
  expect(await run(variables, ['tenant', 'create', 'unheard'], false)).toEqual({ err: '', code: 0 });
  const again = await run(variables, ['tenant', 'create', 'unheard'], false);
  expect(again).toEqual({ err: 'There already is a tenant "unheard"\n', code: 1 });
});
