import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { accountFor, canEnter, type Account } from './account.ts';
import { binaries, type Binaries } from './binaries.ts';
import { createFolder } from './create-folder.ts';
import { readRecord, writeRecord, type ClusterRecord } from './record.ts';

/** Folder of clusters whose user cannot enter `DATA_DIR`. */
const ELSEWHERE = '/var/lib/data-workspace-service';

/** A cluster on disk, ready to be started. */
export interface Cluster {
  record: ClusterRecord;
  account: Account;
  programs: Binaries;
}

/** Returns the cluster of `dataDir` and creates it if missing. Only the lock holder calls it. Throws sentences. */
export function openCluster(dataDir: string, durable: boolean): Cluster {
  const known = readRecord(dataDir);
  const record = {
    ...(known ?? { password: randomBytes(32).toString('base64url'), cluster: chooseFolder(dataDir) }),
    holder: process.pid,
  };
  const account = accountFor(record.cluster);
  const programs = binaries(account, dirname(record.cluster));
  // The record is written first: an interrupted initdb leaves a record without a cluster, never a cluster whose
  // password is lost.
  writeRecord(dataDir, record);
  if (!existsSync(record.cluster)) {
    if (known?.port)
      throw new Error(
        `The database of ${dataDir} was stored in ${known.cluster}, which is missing.` +
          ` Restore it, or delete ${dataDir} to start with an empty one.`,
      );
    create(record, account, programs, durable);
  }
  return { record, account, programs };
}

/** Returns a folder whose parents the Postgres user can enter. */
function chooseFolder(dataDir: string): string {
  const inside = join(dataDir, 'postgres');
  if (canEnter(accountFor(inside), dataDir)) return inside;
  const home = join(
    ELSEWHERE,
    `${basename(dirname(dataDir))}-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`,
  );
  createFolder(home, 0o755);
  const cluster = join(home, 'postgres');
  // A cluster without its record belonged to a DATA_DIR that was deleted, or is currently not mounted: it is preserved.
  if (existsSync(cluster)) {
    rmSync(`${cluster}.previous`, { recursive: true, force: true });
    renameSync(cluster, `${cluster}.previous`);
  }
  return cluster;
}

/**
 * Runs initdb with SCRAM passwords, UTF-8 and Postgres' built-in locale. The cluster appears complete or not at all.
 */
function create({ cluster, password }: ClusterRecord, account: Account, { initdb }: Binaries, durable: boolean): void {
  const unfinished = `${cluster}.new`;
  const passwordFile = `${cluster}.password`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  try {
    if (account.uid !== undefined)
      for (const path of [unfinished, passwordFile]) chownSync(path, account.uid, account.gid);
    const options = [
      '-D',
      unfinished,
      '-U',
      'postgres',
      '-A',
      'scram-sha-256',
      `--pwfile=${passwordFile}`,
      '-E',
      'UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      ...(durable ? [] : ['--no-sync']),
    ];
    const { status, stderr, error } = spawnSync(initdb, options, {
      ...account,
      cwd: '/',
      env: { TZ: 'UTC' },
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`initdb failed: ${stderr?.trim() || String(error)}`);
    renameSync(unfinished, cluster);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}
