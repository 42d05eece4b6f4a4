import type pg from 'pg';
import type { Config } from '../../core/config.ts';
import type { Query } from '../../core/database.ts';
import { countSealed, formatUse, readLostKeys, type KeyUse } from '../../services/secrets/sealed-values.ts';
import { existingSecretBox, secretFile } from '../app-secret.ts';

/** A key and the values that are encrypted with it. */
interface KeyStatus extends KeyUse {
  /** `newest`; `former`: another one of `APP_SECRET`; `missing` there; `lost`: missing, and the operator has said so. */
  state: 'newest' | 'former' | 'missing' | 'lost';
}

/** The keys of a database. */
export interface KeyReport {
  /** The key ring, newest first, then other keys with stored values. */
  keys: KeyStatus[];
  /** Number of values that are encrypted with former keys that are not lost. 0: no former key is needed. */
  left: number;
}

/** Returns a query that sees all tenants, within a transaction that the caller has begun. */
const queryOf =
  (client: pg.Client): Query =>
  async ({ text, values }) =>
    (await client.query(text, values)).rows as never;

/** Counts the values that are encrypted with each key. Changes nothing, and generates no key. */
export async function readKeyReport(client: pg.Client, config: Config): Promise<KeyReport> {
  const secrets = existingSecretBox(config);
  // Row-level security hides the rows from a login that is not a superuser.
  await client.query('begin read only; set local role dws_system');
  try {
    const query = queryOf(client);
    const uses = await countSealed(query);
    const lost = await readLostKeys(query);
    const ring = (secrets?.fingerprints ?? []).map((fingerprint): KeyStatus => ({
      ...(uses.find((use) => use.fingerprint === fingerprint) ?? { fingerprint, values: 0, tables: {} }),
      state: fingerprint === secrets?.fingerprint ? 'newest' : 'former',
    }));
    const others = uses
      .filter(({ fingerprint }) => !secrets?.fingerprints.includes(fingerprint))
      .map((use): KeyStatus => ({ ...use, state: lost.has(use.fingerprint) ? 'lost' : 'missing' }));
    const keys = [...ring, ...others];
    const left = keys.filter(({ state }) => state === 'former' || state === 'missing');
    return { keys, left: left.reduce((sum, { values }) => sum + values, 0) };
  } finally {
    await client.query('rollback');
  }
}

/**
 * Checks that the key ring has every key that stored values need. Returns the number of values encrypted with each key.
 * Throws an error that names the missing keys.
 */
export async function checkKeys(client: pg.Client, config: Config): Promise<string> {
  const { APP_SECRET, DATA_DIR } = config;
  const { keys } = await readKeyReport(client, config);
  const inState = (state: KeyStatus['state']) => keys.filter((key) => key.state === state && key.values > 0);
  const missing = inState('missing');
  if (missing.length > 0 && !existingSecretBox(config))
    throw new Error(
      `APP_SECRET is unset and ${secretFile(DATA_DIR)} is missing: what is encrypted in the database cannot be read`,
    );
  if (missing.length > 0)
    throw new Error(
      `${APP_SECRET ? 'APP_SECRET' : secretFile(DATA_DIR)} lacks keys: ${missing.map(formatUse).join('; ')}`,
    );
  const parts = [
    `${keys[0]?.state === 'newest' ? keys[0].values : 0} values under the newest key`,
    ...inState('former').map((key) => `left under ${formatUse(key)}`),
    ...inState('lost').map((key) => `unreadable, of the lost key ${formatUse(key)}`),
  ];
  return `no key is missing; ${parts.join('; ')}`;
}
