import type { TenantRow } from '../../../entities/tenant-row.ts';
import type { Transaction } from '../../core/platform.ts';

/** Columns that are not copied. */
const OWN_COLUMNS: ReadonlySet<string> = new Set<keyof TenantRow>(['id', 'version', 'createdAt', 'updatedAt']);

/**
 * Creates a copy of a row with `changes`, and returns it with its new id. Columns are copied by the metadata of the
 * entity, so that a new column is never lost.
 */
export function copyRow<T extends TenantRow>({ em }: Transaction, row: T, changes: Partial<T>): T {
  const entity = row.constructor as new () => T;
  const columns = em
    .getMetadata()
    .get(entity)
    .props.filter(({ persist, name }) => persist !== false && !OWN_COLUMNS.has(name));
  const values = Object.fromEntries(columns.map(({ name }) => [name, row[name as keyof T]]));
  const copy = em.create(entity, { ...values, ...changes } as never, { partial: true });
  em.persist(copy);
  return copy;
}
