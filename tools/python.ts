/**
 * A virtual environment of Python with the packages of the examples, for tests and experiments:
 *
 *   node tools/python.ts install    creates it below .cache, with Debian's python3-venv where that is missing
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CHECKOUT = dirname(dirname(fileURLToPath(import.meta.url)));
const REQUIREMENTS = join(CHECKOUT, 'examples/python/requirements.txt');

/** Folder of the environment. Its name changes with the requirements. */
const folder = (): string => {
  const digest = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 12);
  return join(CHECKOUT, '.cache/python', digest);
};

/** Returns the path of a program of the environment. */
export const programOf = (name: string): string => join(folder(), 'bin', name);

/** Returns whether the environment is complete. */
export const isInstalled = (): boolean => existsSync(join(folder(), 'complete'));

const run = (program: string, ...args: string[]): boolean =>
  spawnSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;

function runOrThrow(program: string, ...args: string[]): void {
  if (!run(program, ...args)) throw new Error(`${[program, ...args].join(' ')} failed`);
}

/** Installs Debian's packages of Python, as root or through sudo. */
function installPython(): void {
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const apt = (...args: string[]) => {
    const [program, ...rest] = [...sudo, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq', ...args];
    runOrThrow(program!, ...rest);
  };
  apt('update');
  apt('install', '-y', '--no-install-recommends', 'python3', 'python3-venv');
}

/** Creates the environment and installs the packages. An incomplete one is created again. */
export function install(): void {
  if (isInstalled()) return;
  const target = folder();
  rmSync(target, { recursive: true, force: true });
  const create = () => run('python3', '-m', 'venv', target);
  if (!create()) {
    installPython();
    runOrThrow('python3', '-m', 'venv', '--clear', target);
  }
  runOrThrow(programOf('pip'), 'install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS);
  writeFileSync(join(target, 'complete'), '');
}

if (import.meta.main) {
  const [command] = process.argv.slice(2);
  if (command === 'install') install();
  else console.error('usage: node tools/python.ts install');
}
