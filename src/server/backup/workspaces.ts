import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { openAppWorkspaces } from '../../adapters/app-workspace/app-workspaces.ts';
import { SystemPool } from '../../adapters/database/system-pool.ts';
import { createSecretBox } from '../../adapters/secrets/secret-box.ts';
import type { AppWorkspaces, WorkspaceKey } from '../../core/app-workspace.ts';
import type { Config } from '../../core/config.ts';
import { existingSecretBox } from '../app-secret.ts';
import { reasonOf } from '../start-checks.ts';
import { MAX_JSON_BYTES } from './entry-content.ts';
import type { TarEntry } from './tar.ts';

/** Returns whether a start, or `dws migrate`, has created tables of the service in a database. */
export async function hasTables(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(`select to_regclass('dws.setting') is not null as found`);
  return rows[0]!.found;
}

/** Returns the id of the installation, '' before it is stored. */
async function installationOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ value: string }>(`select value from dws.setting where name = 'installation'`);
  return rows[0]?.value ?? '';
}

/** Opens the workspaces of apps for a backup or a restore, while `client` has a transaction in the service's database. */
export async function openWorkspaces(
  client: pg.Client,
  url: string,
  config: Config,
): Promise<{ workspaces: AppWorkspaces; close(): Promise<void> }> {
  const system = new SystemPool(url, 1);
  const installationId = (await hasTables(client)) ? await installationOf(client) : '';
  // Without the key, the roles get other passwords: the service sets them again.
  const secrets = existingSecretBox(config) ?? createSecretBox(randomBytes(32).toString('hex'));
  const workspaces = openAppWorkspaces({
    databaseUrl: url,
    appsDatabaseUrl: config.APPS_DATABASE_URL,
    system,
    secrets,
    installationId,
    // The contents of the backup are restored, whatever their size.
    limitOf: async () => ({ quota: Infinity, others: 0, refusal: null }),
    memoryBytes: config.APPS_MEMORY_BYTES,
  });
  return {
    workspaces,
    async close() {
      await workspaces.close();
      await system.close();
    },
  };
}

/** Returns the apps with a workspace. */
export async function appsOf(client: pg.Client): Promise<WorkspaceKey[]> {
  const { rows } = await client.query<WorkspaceKey>(
    `select tenant_id as "tenantId", id as "appId" from dws.app where schema_name is not null order by id`,
  );
  return rows;
}

/** Longest time for the tables of one app, so that no app stops a backup or a restore. */
const APP_LIMIT_MS = 30 * 60_000;

/** A signal that aborts with another one, and after the time of one app unless `end` is called before. */
export interface AppLimit {
  signal: AbortSignal;
  end(): void;
}

/** Starts the time of one app. */
export function startAppLimit(signal: AbortSignal): AppLimit {
  const limit = new AbortController();
  const reason = new Error(`It took longer than ${APP_LIMIT_MS / 60_000} minutes`);
  const timer = setTimeout(() => limit.abort(reason), APP_LIMIT_MS);
  return { signal: AbortSignal.any([signal, limit.signal]), end: () => clearTimeout(timer) };
}

/** An app whose tables could not be backed up or restored. */
export interface AppFailure {
  appId: string;
  reason: string;
}

/**
 * Yields the workspaces of apps: for each its state, then the rows of its tables. One that cannot be read is added to
 * `failures`, and its last entry says so.
 */
export async function* workspaceEntries(
  workspaces: AppWorkspaces,
  apps: readonly WorkspaceKey[],
  failures: AppFailure[],
  signal: AbortSignal,
): AsyncGenerator<TarEntry> {
  // Without the database of the apps, nothing is complete.
  if (apps.length > 0) await workspaces.inspect();
  for (const key of apps) {
    const limit = startAppLimit(signal);
    try {
      yield* entriesOfApp(workspaces, key, limit.signal);
    } catch (error) {
      signal.throwIfAborted();
      failures.push({ appId: key.appId, reason: reasonOf(error) });
      yield entryOf(`${folderOf(key)}/failed.json`, Buffer.from(JSON.stringify({ reason: reasonOf(error) })));
    } finally {
      limit.end();
    }
  }
}

async function* entriesOfApp(
  workspaces: AppWorkspaces,
  key: WorkspaceKey,
  signal: AbortSignal,
): AsyncGenerator<TarEntry> {
  const { state, rowsOf, close } = await workspaces.dump(key, signal);
  try {
    const content = Buffer.from(JSON.stringify(state));
    // A restore would refuse such a file.
    if (content.length > MAX_JSON_BYTES) throw new Error('It has too many tables and columns for a backup');
    yield entryOf(`${folderOf(key)}/state.json`, content);
    for (const [index, table] of state.tables.entries()) {
      let number = 0;
      for await (const part of rowsOf(table)) {
        number += 1;
        yield entryOf(`${folderOf(key)}/${index}/${String(number).padStart(6, '0')}.copy`, part);
      }
    }
  } finally {
    await close();
  }
}

const folderOf = ({ tenantId, appId }: WorkspaceKey): string => `apps/${tenantId}/${appId}`;

const entryOf = (name: string, content: Uint8Array): TarEntry => ({ name, size: content.length, content: [content] });
