import { searchFunction } from './search-function.ts';
import { searchedTable } from './searched-table.ts';
import { ofTenants, ROW } from './tenant-table.ts';

/** The columns of every kind with owners (entities/owned-row.ts). */
export const OWNED_COLUMNS = [
  ROW,
  'name text not null',
  'slug text not null',
  'description text',
  'owner_id text not null',
  'folder_id uuid',
].join(', ');

/** The columns of every kind with owners in the global search, as SQL over a row `r`. */
export const OWNED_SEARCH = { slug: 'r.slug', description: 'r.description', owner: 'r.owner_id' };

/**
 * Returns SQL for the trigger that deletes shares, tag assignments and favorites with their resource
 * (m004-resource.ts).
 */
export const forgetResourceTrigger = (table: string): string =>
  `create trigger forget_resource after delete on dws.${table} for each row execute function dws.forget_resource();`;

/**
 * Returns SQL that creates the table of a new kind with owners: columns, indexes, row-level security, deletion of rows
 * that refer to a resource, search. `columns` is SQL for the kind's own columns, e.g. `status text not null`. `but` is
 * a condition over a row `r` for rows that the search does not find.
 */
export const ownedTable = (kind: string, table: string, columns: readonly string[] = [], but?: string): string[] => [
  `create table dws.${table} (${[OWNED_COLUMNS, ...columns].join(', ')});`,
  `create unique index ${table}_slug on dws.${table} (tenant_id, slug);`,
  `create index ${table}_owner on dws.${table} (tenant_id, owner_id);`,
  `create index ${table}_name on dws.${table} (tenant_id, lower(name), id);`,
  `alter table dws.${table} add foreign key (tenant_id, folder_id) references dws.folder
    on delete set null (folder_id);`,
  `create index ${table}_folder on dws.${table} (folder_id) where folder_id is not null;`,
  ofTenants(table),
  forgetResourceTrigger(table),
  ...searchedTable({ kind, table, ...OWNED_SEARCH, ...(but && { but }) }),
  searchFunction({ kind, table, ...OWNED_SEARCH, ...(but && { but }) }),
];
