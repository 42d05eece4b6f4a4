import type { Query } from '../../core/database.ts';
import type { SecretBox } from '../../core/platform.ts';
import { findPlaces, rangesOf, withinRange } from './sealed-places.ts';

/** How many values are sealed under a key. */
export interface KeyUse {
  fingerprint: string;
  values: number;
  /** The numbers by table. */
  tables: Record<string, number>;
}

/** Counts the sealed values by their keys, in the order of fingerprints. `only` limits the count to these keys. */
export async function countSealed(query: Query, only?: readonly string[]): Promise<KeyUse[]> {
  const uses = new Map<string, KeyUse>();
  for (const place of await findPlaces(query))
    for await (const range of rangesOf(query, place)) {
      const values: unknown[] = [only ?? null];
      const rows = await query<{ fingerprint: string; count: number }>({
        text: `
          select fingerprint, count(*)::int as count
          from (select ${place.fingerprint} as fingerprint from dws.${place.table} r
            where ${withinRange(place, range, values)}) v
          where fingerprint is not null and ($1::text[] is null or fingerprint = any($1))
          group by fingerprint`,
        values,
        isSelected: true,
      });
      for (const { fingerprint, count } of rows) {
        const use = uses.get(fingerprint) ?? { fingerprint, values: 0, tables: {} };
        use.values += count;
        use.tables[place.table] = (use.tables[place.table] ?? 0) + count;
        uses.set(fingerprint, use);
      }
    }
  return [...uses.values()].toSorted((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1));
}

/** Returns e.g. `12ab… (datasource 3, mail 1)`. */
export const formatUse = ({ fingerprint, tables }: KeyUse): string =>
  `${fingerprint} (${Object.entries(tables)
    .map(([table, count]) => `${table} ${count}`)
    .join(', ')})`;

/** Names of the settings that record which keys may have sealed values. */
const KEY = 'key:';
/** Value of such a setting when the operator has said that the key is lost. */
const LOST = 'lost';
const IN_USE = 'in use';

/** Records that values may be sealed under a key, and that the key is not lost. */
const recordKey = (query: Query, fingerprint: string): Promise<unknown> =>
  query({
    text: `
      insert into dws.setting (name, value) values ($1, $2)
      on conflict (name) do update set value = excluded.value where dws.setting.value <> excluded.value`,
    values: [KEY + fingerprint, IN_USE],
  });

/**
 * Records the newest key, under which this process seals. Returns whether another process has recorded a newest key
 * that the ring lacks: its values cannot be read here.
 */
export async function recordNewestKey(
  query: Query,
  { fingerprint, fingerprints }: Pick<SecretBox, 'fingerprint' | 'fingerprints'>,
): Promise<{ foreignKey: string | null }> {
  await recordKey(query, fingerprint);
  const [newest] = await query<{ value: string }>({ text: `select value from dws.setting where name = 'key'` });
  return { foreignKey: newest && !fingerprints.includes(newest.value) ? newest.value : null };
}

/**
 * Records that a key is lost, so that the service starts without it. Values that are sealed under it stay unreadable.
 */
export async function forgetKey(query: Query, fingerprint: string): Promise<void> {
  await query({
    text: `insert into dws.setting (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`,
    values: [KEY + fingerprint, LOST],
  });
}

/** Returns the keys that the operator has said to be lost. */
export async function readLostKeys(query: Query): Promise<Set<string>> {
  return new Set([...(await readKeys(query))].filter(([, isLost]) => isLost).map(([fingerprint]) => fingerprint));
}

/** Returns the keys that are recorded, and whether they are lost. */
async function readKeys(query: Query): Promise<Map<string, boolean>> {
  const rows = await query<{ name: string; value: string }>({
    text: `select name, value from dws.setting where starts_with(name, $1)`,
    values: [KEY],
  });
  return new Map(rows.map(({ name, value }) => [name.slice(KEY.length), value === LOST]));
}

/**
 * Returns the values that are sealed under keys that a ring lacks, without lost keys. If starts have recorded keys,
 * only these are counted.
 */
async function findMissingKeys(query: Query, { fingerprints }: Pick<SecretBox, 'fingerprints'>): Promise<KeyUse[]> {
  const recorded = await readKeys(query);
  const lacks = (fingerprint: string) => !fingerprints.includes(fingerprint) && recorded.get(fingerprint) !== true;
  // Databases of former versions have a record of the newest key only.
  const isComplete = [...recorded.values()].includes(false);
  const only = isComplete ? [...recorded.keys()].filter(lacks) : undefined;
  if (only?.length === 0) return [];
  return (await countSealed(query, only)).filter((use) => lacks(use.fingerprint));
}

/**
 * Checks that the key ring has every key under which something is stored, and records the keys. Throws a sentence with the
 * counts. See docs/contract/running.md#keys.
 */
export async function checkKeyRing(
  query: Query,
  secrets: Pick<SecretBox, 'fingerprint' | 'fingerprints'>,
): Promise<void> {
  const missing = await findMissingKeys(query, secrets);
  if (missing.length > 0) throw new Error(missingKeysMessage(missing));
  for (const [fingerprint, isLost] of await readKeys(query))
    if (!isLost && !secrets.fingerprints.includes(fingerprint))
      await query({ text: `delete from dws.setting where name = $1`, values: [KEY + fingerprint] });
  for (const fingerprint of secrets.fingerprints) await recordKey(query, fingerprint);
  await query({
    text: `
      insert into dws.setting (name, value) values ('key', $1)
      on conflict (name) do update set value = excluded.value where dws.setting.value <> excluded.value`,
    values: [secrets.fingerprint],
  });
}

/** Returns the sentence about keys that `APP_SECRET` lacks. */
const missingKeysMessage = (missing: readonly KeyUse[]): string =>
  `APP_SECRET does not contain every key that encrypts stored values. Missing: ${missing
    .map(formatUse)
    .join(
      '; ',
    )}. Add the former key after the new one, separated by a comma; \`dws secrets status\` shows when it may go`;
