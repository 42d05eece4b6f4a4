import { badInput } from '../../core/errors.ts';
import type { Transaction } from '../../core/platform.ts';
import { isSlug } from '../../core/slug.ts';

/**
 * Returns `wanted` if no row of the table has that slug, else the first free one of `wanted-2`, `wanted-3`, … No other
 * transaction gets a slug of the table until this one ends.
 */
export async function reserveSlug(tx: Transaction, tenantId: string, table: string, wanted: string): Promise<string> {
  // Concurrent transactions wait for each other here, so that none violates the unique index.
  await tx.query({
    text: `select pg_advisory_xact_lock(hashtextextended($1, 0))`,
    values: [`slug:${tenantId}:${table}`],
  });
  const taken = await tx.query<{ slug: string }>({
    text: `select slug from dws.${table} where tenant_id = $1 and (slug = $2 or slug like $2 || '-%')`,
    values: [tenantId, wanted],
  });
  const slugs = new Set(taken.map(({ slug }) => slug));
  if (!slugs.has(wanted)) return wanted;
  for (let n = 2; ; n++) if (!slugs.has(`${wanted}-${n}`)) return `${wanted}-${n}`;
}

/** Returns the slug. Throws BAD_INPUT if it is malformed (docs/contract.md#identifiers). */
export function checkSlug(slug: string): string {
  if (!isSlug(slug))
    throw badInput('slug must match ^[a-z0-9][a-z0-9-]*$, have at most 100 characters and not be shaped like a UUID');
  return slug;
}
