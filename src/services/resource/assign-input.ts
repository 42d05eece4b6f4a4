import type { TenantRow } from '../../../entities/tenant-row.ts';
import { assignPresent } from '../../core/input-checks.ts';
import type { Transaction } from '../../core/platform.ts';

/**
 * Copies the present keys of an input onto a row. Throws BAD_USER_INPUT for null in a column that is not nullable by
 * the metadata of the entity. A new field of an input therefore requires no change of the service.
 */
export function assignInput<T extends TenantRow>(
  { em }: Transaction,
  row: T,
  input: { [K in keyof T]?: T[K] | null },
): T {
  const properties: Record<string, { nullable?: boolean }> = em
    .getMetadata()
    .get(row.constructor as new () => T).properties;
  const nullable = (Object.keys(input) as (keyof T & string)[]).filter((key) => properties[key]?.nullable);
  return assignPresent(row, input, nullable);
}
