import type { TenantRow } from '../../../entities/tenant-row.ts';

/**
 * A table with parts of a resource, e.g. its actions. A draft has new parts, and copies whose column `original_id`
 * names the copied part.
 */
export interface DraftPart {
  table: string;
  /** Column with the id of the resource. */
  parent: string;
  /** Columns that copies and originals share. */
  columns: readonly string[];
}

/** The fields of an entity that originals and copies share: all but those that every row has, and `Own`. */
export type DraftedField<T extends TenantRow, Own extends keyof T> = Exclude<keyof T, keyof TenantRow | Own>;

/**
 * Declares a table with parts whose rows are entities `T`, with the column of each shared field. A new field of the entity
 * does not compile until its column is declared here, or it is one of `Own`: those that each copy has for itself.
 */
export const draftPart = <T extends TenantRow & { originalId?: string | null }, Own extends keyof T>({
  table,
  parent,
  columns,
}: {
  table: string;
  parent: string;
  columns: Record<DraftedField<T, Own | 'originalId'>, string>;
}): DraftPart => ({ table, parent, columns: Object.values(columns) });

/* SQL by which a commit of a draft replaces parts. Its values are the tenant $1, the resource $2 and its draft $3. */

/** Returns SQL that deletes the parts that have no copy in the draft. */
export const deleteMissing = ({ table, parent }: Pick<DraftPart, 'table' | 'parent'>): string => `
  delete from dws.${table} o
  where o.tenant_id = $1 and o.${parent} = $2
    and not exists (select from dws.${table} c where c.${parent} = $3 and c.original_id = o.id)`;

/** Returns SQL for the resource of a row. */
type ParentOf = (row: string) => string;

/**
 * Returns SQL that copies the content of copies to their originals, and increases the version of an original that
 * changes. `parentOf` replaces the column with the id of the resource; `more` selects further changes.
 */
export const replaceContent = (
  { table, parent, columns }: DraftPart,
  { parentOf = (row) => `${row}.${parent}`, more = () => '0' }: { parentOf?: ParentOf; more?: ParentOf } = {},
): string => `
  update dws.${table} o
  set ${columns.map((column) => `${column} = c.${column}`).join(', ')}, version = o.version + 1, updated_at = now()
  from dws.${table} c
  where o.tenant_id = $1 and c.original_id = o.id and ${parentOf('o')} = $2 and ${parentOf('c')} = $3
    and (${columns.map((column) => `o.${column}`).join(', ')}, ${more('o')})
      is distinct from (${columns.map((column) => `c.${column}`).join(', ')}, ${more('c')})`;

/** Returns SQL that moves the new parts of the draft to the resource. */
export const moveNew = ({ table, parent }: Pick<DraftPart, 'table' | 'parent'>): string => `
  update dws.${table}
  set ${parent} = $2
  where tenant_id = $1 and ${parent} = $3 and original_id is null`;
