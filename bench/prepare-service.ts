import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fill } from './fill.ts';

/**
 * Migrates a database and fills it with users, tokens and one query. Returns the environment in which processes of the
 * built service use it, with `DATA_DIR` below `dir`. `main` is the built program.
 */
export async function prepareService(main: string, databaseUrl: string, dir: string): Promise<Record<string, string>> {
  const env = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: join(dir, 'data'),
    APP_SECRET: 'a secret for benchmarks of enough characters',
    NODE_ENV: 'production',
    RATE_LIMIT_API: '0',
    SEED_DEMO: 'false',
    LOG_LEVEL: 'warn',
  };
  execFileSync(process.execPath, [main, 'migrate'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await fill(databaseUrl, 1);
  return env;
}
