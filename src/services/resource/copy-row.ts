import type { TenantRow } from '../../../entities/tenant-row.ts';
import { newRow } from '../../core/new-row.ts';
import type { RowClass, Transaction } from '../../core/platform.ts';

/** Columns that are not copied. */
const OWN_COLUMNS: ReadonlySet<string> = new Set<keyof TenantRow>(['id', 'version', 'createdAt', 'updatedAt']);

/**
 * Creates a copy of a row with `changes`, and returns it with its new id. Columns are copied by the metadata of the
 * entity, so that a new column is never lost.
 */
export function copyRow<T extends TenantRow>(tx: Transaction, row: T, changes: Partial<T>): T {
  const type = row.constructor as RowClass<T>;
  const lazy = tx.fieldsOf(type).find((field) => field.lazy && row[field.name as keyof T] === undefined);
  if (lazy) throw new Error(`${type.name}.${lazy.name} is not loaded, so the row cannot be copied`);
  const copied = tx.fieldsOf(type).filter(({ name }) => !OWN_COLUMNS.has(name));
  const values = Object.fromEntries(copied.map(({ name }) => [name, row[name as keyof T]])) as Partial<T>;
  return tx.insert(newRow(type, { ...values, ...changes }));
}
