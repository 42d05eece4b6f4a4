import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readConfig } from '../../src/core/config.ts';
import { newId } from '../../src/core/id.ts';
import { childEnvironment } from '../../src/core/process-environment.ts';
import { builtMain } from './built-service.ts';
import { createDatabase, type TestDatabase } from './postgres.ts';
import { runSql } from './run-sql.ts';
import { newFolder } from './service-process.ts';

export const APP_SECRET = 'a secret of an installation that is backed up';

/** Runs `dws` in a process of its own. Returns its output, on both streams, and its exit code. */
export async function dws(
  variables: Record<string, string>,
  ...args: string[]
): Promise<{ code: number; printed: string }> {
  const env = { ...childEnvironment(), ...variables };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [builtMain(), ...args], { env });
    return { code: 0, printed: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, printed: stdout + stderr };
  }
}

/** A database and a folder with one tenant. */
export interface Installation {
  database: TestDatabase;
  config: ReturnType<typeof readConfig>;
  /** Folder of archives. */
  away: string;
  /** Records an uploaded file and returns its path. */
  addFile(filename: string): Promise<string>;
  /** Names of the folders of running backups; undefined when their parent does not exist. */
  links(): string[] | undefined;
}

/** Runs `work` on a new installation and removes it. */
export async function withInstallation(work: (installation: Installation) => Promise<void>): Promise<void> {
  const [folder, away] = [newFolder(), newFolder()];
  const database = await createDatabase();
  const tenant = newId();
  await runSql(database.url, `insert into dws.tenant (id, slug) values ('${tenant}', 'acme')`);
  mkdirSync(join(folder.path, 'files'));
  await work({
    database,
    config: readConfig({ DATA_DIR: folder.path, APP_SECRET }),
    away: away.path,
    async addFile(filename) {
      const id = newId();
      await runSql(
        database.url,
        `insert into dws.stored_file (id, tenant_id, filename, content_type, size, sha256)
          values ($1, $2, $3, 'text/csv', 0, '')`,
        [id, tenant, filename],
      );
      return join(folder.path, 'files', id);
    },
    links: () => {
      const parent = join(folder.path, 'backup-links');
      return existsSync(parent) ? readdirSync(parent) : undefined;
    },
  });
  for (const { remove } of [folder, away]) remove();
  await database.drop();
}
