import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { freeBytesOf } from '../../adapters/files/file-store.ts';
import { readConfig, type Config } from '../../core/config.ts';
import { queueLimitsOf } from '../../operations/queue-limits.ts';
import { hasTables } from '../backup/workspaces.ts';
import { openDataDir, wrongModes } from '../data-dir.ts';
import { reasonOf } from '../start-checks.ts';
import { missingStatements } from './administrator-sql.ts';
import { checkApps } from './doctor-apps.ts';
import {
  checkCreditSync,
  checkIndex,
  checkMigrations,
  checkPostgresVersion,
  checkQueue,
  checkRowSecurity,
  countConnections,
} from './doctor-database.ts';
import { checkKeys } from './key-status.ts';
import { withClient } from './operator-database.ts';

/** Minimum free disk space for refreshes and Postgres. */
const MIN_FREE_BYTES = 1_000_000_000;

/** Outcome of one check. `detail` is the finding, or the reason of the failure. */
export interface CheckResult {
  name: string;
  passed: boolean;
  detail: string;
}

/** Returns the line of a check: `ok` or `FAIL`, name, and finding. */
export const formatCheck = ({ name, passed, detail }: CheckResult): string =>
  `${passed ? 'ok  ' : 'FAIL'}  ${name.padEnd(12)}${detail}`;

/**
 * Runs one check and reports its outcome. Returns whether it passed. `check` returns the finding, or throws an error
 * with the reason.
 */
type RunCheck = (name: string, check: () => string | Promise<string>) => Promise<boolean>;

/**
 * Checks everything that the service needs, and reports each check when it ends. Returns whether all checks passed.
 * Changes nothing; an embedded Postgres that is not running is started for the checks.
 */
export async function doctor(report: (check: CheckResult) => void): Promise<boolean> {
  let isHealthy = true;
  const runCheck: RunCheck = async (name, check) => {
    try {
      report({ name, passed: true, detail: await check() });
      return true;
    } catch (error) {
      isHealthy = false;
      report({ name, passed: false, detail: reasonOf(error) });
      return false;
    }
  };
  await runCheck('node', checkNode);
  if (!(await runCheck('config', () => describeConfig(readConfig())))) return isHealthy;
  const config = readConfig();
  const folder = config.DATA_DIR;
  await runCheck('data folder', () =>
    existsSync(folder) ? checkFolder(config) : `${folder} does not exist yet; the first start creates it`,
  );
  if (existsSync(folder)) await runCheck('disk', () => checkDisk(folder, config));
  if (config.DATABASE_URL || existsSync(join(folder, 'postgres.json'))) await checkDatabase(config, runCheck);
  else await runCheck('postgres', () => 'none yet; the first start creates an embedded one');
  return isHealthy;
}

async function checkDatabase(config: Config, runCheck: RunCheck): Promise<void> {
  try {
    await withClient(config, 'dws doctor', async (client, { url, ownStart }) => {
      await runCheck(
        'postgres',
        async () => `${await checkPostgresVersion(client)}${ownStart ? ', started for this check' : ''}`,
      );
      if (!(await hasTables(client))) {
        await runCheck('migrations', () => 'none ran yet; the first start creates the tables');
        await runCheck('roles', () => checkRights(client, url, config));
        return;
      }
      await runCheck('migrations', () => checkMigrations(client));
      await runCheck('roles', () => checkRowSecurity(client));
      await runCheck('queue', () => checkQueue(client));
      await runCheck('key ring', () => checkKeys(client, config));
      await runCheck('index', () => checkIndex(client, config));
      await runCheck('apps', () => checkApps(client, url, config));
      await runCheck('credits', () => checkCreditSync(client, config));
      await runCheck('connections', () => countConnections(client));
    });
  } catch (error) {
    await runCheck('postgres', () => {
      throw error;
    });
  }
}

/** Checks that the login may create the objects of the first start. */
async function checkRights(client: pg.Client, url: string, config: Config): Promise<string> {
  const missing = await missingStatements(client, url, config);
  if (missing.length > 0)
    throw new Error('the login lacks rights for the first start: an administrator runs what `dws doctor --sql` prints');
  return 'the login may create what the first start creates';
}

/**
 * Describes the role of the service. Warns if users wait for one another because a tenant has one place, and if all
 * callers share the limits of one address because the addresses that a proxy states do not count.
 */
const describeConfig = (config: Config): string => {
  const { ROLE, WORKER_CONCURRENCY, PUBLIC_URL } = config;
  const notes = [`read, ROLE=${ROLE}`];
  if (ROLE !== 'web' && queueLimitsOf(WORKER_CONCURRENCY).operations.perTenant === 1)
    notes.push(
      `WORKER_CONCURRENCY=${WORKER_CONCURRENCY} leaves a tenant one place, so that its users wait for each other: ` +
        'set it to 4 or more',
    );
  if (ROLE !== 'worker' && isBehindUnknownProxy(config))
    notes.push(
      `PUBLIC_URL=${PUBLIC_URL} is not where the service listens, and TRUST_PROXY is unset: if a proxy is in between, ` +
        'all callers share the limits of its address. Set TRUST_PROXY to the addresses of the proxy',
    );
  return notes.join('; ');
};

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/;

/** Returns whether `PUBLIC_URL` can lead to the service only through a proxy that is not configured. */
function isBehindUnknownProxy({ HOST, PORT, PUBLIC_URL, TRUST_PROXY }: Config): boolean {
  if (PUBLIC_URL === undefined || TRUST_PROXY.length > 0) return false;
  const { protocol, hostname, port } = new URL(PUBLIC_URL);
  const isElsewhere = LOOPBACK.test(HOST) && !LOOPBACK.test(hostname);
  return protocol === 'https:' || isElsewhere || Number(port || 80) !== PORT;
}

function checkNode(): string {
  if (Number(process.versions.node.split('.')[0]) < 24)
    throw new Error(`${process.version} is too old; Node 24 or newer is required`);
  return process.version;
}

/** Checks that the folder is writable, and that other users can reach nothing that the service stores in it. */
function checkFolder({ DATA_DIR, DATABASE_URL }: Config): string {
  const folder = openDataDir(DATA_DIR, !DATABASE_URL);
  const [wrong, ...others] = wrongModes(folder, !DATABASE_URL);
  const also = others.length === 1 ? ', and on one other' : `, and on ${others.length} others`;
  if (wrong)
    throw new Error(
      `${wrong.path} has mode ${wrong.mode.toString(8)}, so other users have access; ` +
        `run chmod ${wrong.intended.toString(8)} on it${others.length ? also : ''}` +
        ', or start the service as its owner',
    );
  return `${folder}, closed to other users`;
}

async function checkDisk(folder: string, { RESERVED_DISK_BYTES: reserved }: Config): Promise<string> {
  const bytes = await freeBytesOf(folder);
  const free = `${(bytes / 1e9).toFixed(1)} GB free`;
  if (bytes < reserved)
    throw new Error(`only ${free} in ${folder}: below RESERVED_DISK_BYTES=${reserved} the service stores nothing new`);
  if (bytes < MIN_FREE_BYTES) throw new Error(`only ${free} in ${folder}`);
  return free;
}
