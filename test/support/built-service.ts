import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the repository. */
export const CHECKOUT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** Variable of processes that tests start: Node keeps the compiled modules, which saves a quarter of their start. */
export const COMPILE_CACHE = { NODE_COMPILE_CACHE: join(CHECKOUT, '.cache/compiled-modules') };
const MAIN = 'src/server/main.js';

/**
 * Returns the program of the compiled service: `dist` if it is younger than every source, as in `npm test`; otherwise
 * a build of this run in `.cache`, so that no test runs outdated code. Types are checked in a separate step.
 */
export function builtMain(): string {
  const current = currentBuild();
  if (current) return join(current, MAIN);
  // All test processes of a run have the same parent. Builds of earlier runs are removed.
  const cache = join(CHECKOUT, '.cache');
  const folder = join(cache, `dist-${process.ppid}`);
  mkdirSync(cache, { recursive: true });
  for (const name of readdirSync(cache)) {
    const run = /^dist-(\d+)/.exec(name)?.[1];
    if (run && !existsSync(`/proc/${run}`)) rmSync(join(cache, name), { recursive: true, force: true });
  }
  if (!existsSync(folder)) build(folder);
  return join(folder, MAIN);
}

/** Returns the folder `dist` if it is younger than every source; otherwise null. */
export function currentBuild(): string | null {
  return youngestSource() < timeOf(join(CHECKOUT, 'dist/.sources')) ? join(CHECKOUT, 'dist') : null;
}

/** Builds into a folder that appears complete or not at all. */
function build(folder: string): void {
  const unfinished = `${folder}.${process.pid}`;
  execFileSync(
    process.execPath,
    [
      resolve(CHECKOUT, 'node_modules/typescript/bin/tsc'),
      '-p',
      'tsconfig.build.json',
      '--outDir',
      unfinished,
      '--noCheck',
    ],
    { cwd: CHECKOUT, stdio: 'inherit' },
  );
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    // Another test process was faster.
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

function youngestSource(): number {
  const files = ['src', 'entities', 'resolvers', 'rest-bridge'].flatMap((room) =>
    readdirSync(join(CHECKOUT, room), { recursive: true }).map((file) => join(CHECKOUT, room, String(file))),
  );
  return Math.max(
    ...[...files, join(CHECKOUT, 'package-lock.json'), join(CHECKOUT, 'tsconfig.build.json')].map(timeOf),
  );
}

const timeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
