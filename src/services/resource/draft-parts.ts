/**
 * A table with parts of a resource, e.g. its actions. A draft has copies, whose column `original_id` names the part that
 * they are copies of, and new parts.
 */
export interface DraftPart {
  table: string;
  /** Column with the id of the resource. */
  parent: string;
  /** Columns that copies and originals share. */
  columns: readonly string[];
}

/* SQL with which a commit of a draft replaces parts. Its values are the tenant $1, the resource $2 and its draft $3. */

/** Returns SQL that deletes the parts of which the draft has no copy. */
export const deleteMissing = ({ table, parent }: Pick<DraftPart, 'table' | 'parent'>): string => `
  delete from dws.${table} o
  where o.tenant_id = $1 and o.${parent} = $2
    and not exists (select from dws.${table} c where c.${parent} = $3 and c.original_id = o.id)`;

/** Returns SQL for the resource of a row. */
type ParentOf = (row: string) => string;

/**
 * Returns SQL that gives originals the content of their copies, and a new version if it differs. `parentOf` replaces the
 * column with the id of the resource; `more` selects what is a change too.
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
