/** A table whose rows the global search finds. The texts are SQL over a row `r`. */
export interface SearchedTable {
  /** Resource kind of the rows. */
  kind: string;
  table: string;
  name?: string;
  slug?: string;
  description?: string;
  /** Principal that owns the row. A row without an owner is visible to all users of the tenant. */
  owner?: string;
  /** Condition for rows that the search does not find. */
  but?: string;
}

/**
 * Returns a searched table with its defaults, the arguments of `dws.put_search_entry`, and the condition that finds the
 * entry of the row.
 */
export function searchEntry({
  kind,
  table,
  name = 'r.name',
  slug = 'null',
  description = 'null',
  owner = 'null',
  but = 'false',
}: SearchedTable) {
  const values = `r.tenant_id, '${kind}', r.id, ${owner}, ${name}, ${slug}, ${description}, r.updated_at`;
  const key = `tenant_id = r.tenant_id and kind = '${kind}' and id = r.id`;
  return { table, name, slug, description, owner, but, values, key };
}

/**
 * Returns SQL that adds the rows of a table to the global search and keeps them up to date by a trigger
 * (m005-search.ts).
 */
export function searchedTable(searched: SearchedTable): string[] {
  const { table, but, values, key } = searchEntry(searched);
  const put = `dws.put_search_entry(${values})`;
  return [
    `create function dws.search_${table}() returns trigger language plpgsql as $$
      declare r dws.${table}; begin
        if tg_op = 'DELETE' then r := old; else r := new; end if;
        if tg_op = 'DELETE' or (${but}) then delete from dws.search_entry where ${key};
        else perform ${put}; end if;
        return null;
      end $$;`,
    `create trigger search_entry after insert or update or delete on dws.${table} ` +
      `for each row execute function dws.search_${table}();`,
    // The migrator itself has no access to the rows of tenants.
    `set local role dws_system; select ${put} from dws.${table} r where not (${but}); reset role;`,
  ];
}
