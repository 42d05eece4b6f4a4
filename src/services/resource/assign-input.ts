import type { TenantRow } from '../../../entities/tenant-row.ts';
import { assignPresent } from '../../core/input-checks.ts';
import type { RowClass, Transaction } from '../../core/platform.ts';

/**
 * Copies the present keys of an input onto a row. Throws BAD_USER_INPUT for null in a column that is not nullable by
 * the metadata of the entity. A new field of an input therefore requires no change of the service.
 */
export function assignInput<T extends TenantRow>(
  tx: Pick<Transaction, 'fieldsOf'>,
  row: T,
  input: { [K in keyof T]?: T[K] | null },
): T {
  const nullable = tx.fieldsOf(row.constructor as RowClass<T>).filter((field) => field.nullable);
  return assignPresent(row, input, nullable.map(({ name }) => name) as (keyof T & string)[]);
}
