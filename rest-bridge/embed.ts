import type { PresentedRequest } from './page-links.ts';
import type { Presentation } from './present.ts';
import type { Json } from './route.ts';

/**
 * Returns a field of a record as it is embedded: presented, or each item presented. Removes it from the record unless
 * `stays`.
 */
export function embedField(
  record: Json,
  name: string,
  inner: Presentation,
  request: PresentedRequest,
  stays: boolean,
): unknown {
  const value = record[name];
  if (!stays) record[name] = undefined;
  if (value === null || value === undefined) return null;
  // A value that stays is copied, because the presenter changes its argument.
  const present = (item: unknown) => inner.present(stays ? { ...(item as Json) } : item, request);
  return Array.isArray(value) ? value.map(present) : present(value);
}
