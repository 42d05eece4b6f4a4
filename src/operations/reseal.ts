import type { Query } from '../core/database.ts';
import type { Platform, SecretBox } from '../core/platform.ts';
import { SEALED_COLUMNS } from '../core/sealed-columns.ts';
import {
  findPlaces,
  keyNames,
  keyOf,
  keyTexts,
  rangesOf,
  withinRange,
  type KeyRange,
  type SealedPlace,
} from '../services/secrets/sealed-places.ts';
import { recordNewestKey } from '../services/secrets/sealed-values.ts';
import { repeatPass } from './repeated-pass.ts';

/** Number of values that one transaction seals again. */
const BATCH = 500;
/** Approximate maximum size of the values in memory, in bytes. */
const MAX_BYTES = 8_000_000;

/** A row that is locked. */
interface LockedRow {
  key: string[];
  bytes: number;
}

/**
 * Seals every value under a former key again under the newest one, in transactions of 500 values. Each value is
 * replaced only if it has not changed, and rows that others have locked are left to the next pass. So any number of
 * processes may do this concurrently, and a process that is killed loses nothing. Returns the number of values. See
 * docs/contract/running.md#keys.
 */
export async function resealAll(
  { system, secrets, log }: Pick<Platform, 'system' | 'secrets' | 'log'>,
  signal: AbortSignal,
  columns: readonly string[] = SEALED_COLUMNS,
): Promise<number> {
  const query: Query = (statement) => system.query(statement);
  const { foreignKey } = await recordNewestKey(query, secrets);
  if (foreignKey !== null)
    log.warn({ key: foreignKey }, 'Another process encrypts with a key that is not in APP_SECRET of this one');
  const former = secrets.fingerprints.filter((fingerprint) => fingerprint !== secrets.fingerprint);
  if (former.length === 0) return 0;
  let count = 0;
  for (const place of await findPlaces(query, columns)) {
    let damaged = 0;
    for await (const { after, upTo } of rangesOf(query, place)) {
      for (let start = after; ;) {
        signal.throwIfAborted();
        const range = { after: start, upTo };
        const { last, sealed, failed } = await system.transaction((tx) =>
          resealBatch(tx, secrets, place, range, former),
        );
        count += sealed;
        damaged += failed;
        if (!last) break;
        start = last;
      }
    }
    if (damaged > 0) log.warn({ place: place.name, damaged }, 'Stored values are damaged and cannot be decrypted');
  }
  if (count > 0) log.info({ count }, 'Encrypted stored values again under the newest key');
  return count;
}

/** Seals a batch of a range again. Returns its last key; null if nothing is left in the range. */
async function resealBatch(
  tx: Query,
  secrets: SecretBox,
  place: SealedPlace,
  range: KeyRange,
  former: readonly string[],
): Promise<{ last: string[] | null; sealed: number; failed: number }> {
  const values: unknown[] = [former];
  const rows = await tx<Record<string, unknown> & { bytes: number }>({
    text: `
      select ${keyTexts(place)}, ${place.bytes} as bytes
      from dws.${place.table} r
      where ${place.fingerprint} = any($1) and ${withinRange(place, range, values)}
      order by ${keyNames(place)}
      limit ${BATCH}
      for update skip locked`,
    values,
    isSelected: true,
  });
  const locked = rows.map((row): LockedRow => ({ key: keyOf(place, row), bytes: row.bytes }));
  let [sealed, failed] = [0, 0];
  for (const part of partsOf(locked)) {
    const outcome = await resealRows(tx, secrets, place, part);
    sealed += outcome.sealed;
    failed += outcome.failed;
  }
  return { last: locked.length < BATCH ? null : locked.at(-1)!.key, sealed, failed };
}

/** Splits rows so that the values of a part fit into memory. */
function partsOf(rows: readonly LockedRow[]): LockedRow[][] {
  const parts: LockedRow[][] = [];
  let bytes = Infinity;
  for (const row of rows) {
    bytes += row.bytes;
    if (bytes > MAX_BYTES) {
      parts.push([]);
      bytes = row.bytes;
    }
    parts.at(-1)!.push(row);
  }
  return parts;
}

async function resealRows(
  tx: Query,
  secrets: SecretBox,
  place: SealedPlace,
  rows: readonly LockedRow[],
): Promise<{ sealed: number; failed: number }> {
  const names = place.keys.map((_, index) => `key${index}`);
  const isSame = place.keys.map(({ name, type }, index) => `r.${name} = u.key${index}::${type}`).join(' and ');
  const columns = (keys: readonly string[][]) => place.keys.map((_, index) => keys.map((key) => key[index]));
  const listed = (count: number) => Array.from({ length: count }, (_, index) => `$${index + 1}::text[]`).join(', ');
  const stored = await tx<Record<string, unknown> & { value: string }>({
    text: `
      select ${keyTexts(place)}, ${place.value} as value
      from dws.${place.table} r
      join unnest(${listed(names.length)}) u (${names.join(', ')}) on ${isSame}`,
    values: columns(rows.map(({ key }) => key)),
    isSelected: true,
  });
  const resealed = stored.flatMap((row) => {
    const value = resealValue(secrets, place, row.value);
    return value === null ? [] : [{ key: keyOf(place, row), former: row.value, value }];
  });
  const failed = stored.length - resealed.length;
  if (resealed.length === 0) return { sealed: 0, failed };
  const updated = await tx({
    text: `
      update dws.${place.table} r
      set ${place.assign('u.value')}
      from unnest(${listed(names.length + 2)}) u (${[...names, 'former', 'value'].join(', ')})
      where ${isSame} and ${place.value} = u.former
      returning 1`,
    values: [
      ...columns(resealed.map(({ key }) => key)),
      resealed.map(({ former }) => former),
      resealed.map(({ value }) => value),
    ],
    isSelected: true,
  });
  return { sealed: updated.length, failed };
}

/** Returns the value under the newest key; null if it cannot be decrypted. */
function resealValue(secrets: SecretBox, { name, isBytes }: SealedPlace, value: string): string | null {
  try {
    if (!isBytes) return secrets.seal(secrets.open(value, name));
    return secrets.sealBytes(secrets.openBytes(Buffer.from(value, 'base64'), name)).toString('base64');
  } catch {
    return null;
  }
}

/** Seals values again immediately and after each `interval`, in milliseconds. */
export const startResealing = (platform: Platform, { interval }: { interval: number }): { stop(): Promise<void> } =>
  repeatPass(platform, { interval, failureMessage: 'Could not encrypt stored values under the newest key' }, (signal) =>
    resealAll(platform, signal).then(() => undefined),
  );
