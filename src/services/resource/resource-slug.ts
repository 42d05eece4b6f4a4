import type { TenantRow } from '../../../entities/tenant-row.ts';
import { LostRace } from '../../core/database.ts';
import { badInput, slugTaken } from '../../core/errors.ts';
import { lockKey } from '../../core/locks.ts';
import type { Transaction } from '../../core/platform.ts';
import { isSlug, slugOf } from '../../core/slug.ts';

interface SluggedRow extends TenantRow {
  name: string;
  slug: string;
}

/**
 * Sets the slug of a row: the given one, else the first free one for its name, with a suffix `-2`, `-3` where needed.
 * A given one that is in use fails with CONFLICT when the row is written. Throws BAD_USER_INPUT if it is malformed.
 */
export async function setSlug(
  tx: Transaction,
  { table }: { table: string },
  row: SluggedRow,
  slug?: string | null,
): Promise<void> {
  row.slug = slug ? checkSlug(slug) : await findFreeSlug(tx, row.tenantId, table, slugOf(row.name));
  tx.onDuplicate(row, (index) => {
    if (index !== `${table}_slug`) return null;
    // Another transaction has taken a slug that was free: the next attempt finds a later one.
    return slug ? slugTaken({ slug }) : new LostRace();
  });
}

/** Number of slugs that the first statement looks up. Each further one looks up as many times more. */
const LOOKED_UP = 8;

/** Returns the first of `wanted`, `wanted-2`, `wanted-3`, … that no row of the table has. */
async function findFreeSlug(tx: Transaction, tenantId: string, table: string, wanted: string): Promise<string> {
  // Transactions that have lost a race wait for each other, so that each of them finally succeeds.
  if (tx.isRetry) lockKey(tx, `slug:${tenantId}:${table}`);
  for (let first = 1, count = LOOKED_UP; ; first += count, count *= LOOKED_UP) {
    const candidates = Array.from({ length: count }, (_, index) =>
      first + index === 1 ? wanted : `${wanted}-${first + index}`,
    );
    const found = await tx.query<{ slug: string }>({
      text: `select slug from dws.${table} where tenant_id = $1 and slug = any($2)`,
      values: [tenantId, candidates],
    });
    const taken = new Set(found.map(({ slug }) => slug));
    const free = candidates.find((slug) => !taken.has(slug));
    if (free !== undefined) return free;
  }
}

/** Returns the slug. Throws BAD_USER_INPUT if it is malformed (docs/contract/apis.md#identifiers). */
function checkSlug(slug: string): string {
  if (!isSlug(slug))
    throw badInput('slug must match ^[a-z0-9][a-z0-9-]*$, have at most 100 characters and not be shaped like a UUID');
  return slug;
}
