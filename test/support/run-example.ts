import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { childEnvironment } from '../../src/core/process-environment.ts';
import { COMPILE_CACHE } from './built-service.ts';

/** Runs a command in the folder `examples` as its npm scripts do. Returns exit code, output and errors. */
export async function runExample(
  [command, ...args]: readonly [string, ...string[]],
  variables: Record<string, string> = {},
): Promise<{ code: number; output: string; errors: string }> {
  const bins = [join('examples', 'node_modules', '.bin'), join('node_modules', '.bin')].map((bin) =>
    join(process.cwd(), bin),
  );
  const child = spawn(command, args, {
    cwd: 'examples',
    env: { ...childEnvironment(), ...COMPILE_CACHE, ...variables, PATH: [...bins, process.env['PATH']].join(':') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: code as number, output, errors };
}
