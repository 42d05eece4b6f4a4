import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Contents of `DATA_DIR/postgres.json` (mode 600): the state of the embedded cluster. */
export interface ClusterRecord {
  /** Password of the superuser `postgres`: 32 random bytes in base64url. */
  password: string;
  /** Absolute path of the cluster. Below `DATA_DIR`, unless the unprivileged user cannot reach that folder. */
  cluster: string;
  /** The last loopback port, tried first at the next start. Absent until the first start succeeded. */
  port?: number;
  /** Process that holds `DATA_DIR`, or held it last. */
  holder: number;
}

/**
 * Reads the record of `dataDir`; undefined when no cluster was ever created there. A cluster inside the folder is found
 * there, even after the folder was copied or moved.
 */
export function readRecord(dataDir: string): ClusterRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8')) as ClusterRecord;
    const inside = join(dataDir, 'postgres');
    return existsSync(inside) ? { ...record, cluster: inside } : record;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Replaces the record atomically: a reader sees the old one or the new one. */
export function writeRecord(dataDir: string, record: ClusterRecord): void {
  const file = join(dataDir, 'postgres.json');
  writeFileSync(`${file}.new`, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Returns the URL of the service's own database on a cluster that listens on `port`. */
export const urlOf = (record: ClusterRecord, port: number): string =>
  `postgres://postgres:${record.password}@127.0.0.1:${port}/dws`;
