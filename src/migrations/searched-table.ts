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

/** Returns SQL for the function of the trigger. An entry whose texts have not changed keeps its document. */
export function searchFunction({
  kind,
  table,
  name = 'r.name',
  slug = 'null',
  description = 'null',
  owner = 'null',
  but = 'false',
}: SearchedTable): string {
  const values = `r.tenant_id, '${kind}', r.id, ${owner}, ${name}, ${slug}, ${description}, r.updated_at`;
  const key = `tenant_id = r.tenant_id and kind = '${kind}' and id = r.id`;
  const texts = `row(${name}, ${slug}, ${description}, ${but})`;
  const formerTexts = texts.replaceAll('r.', 'old.');
  return `create or replace function dws.search_${table}() returns trigger language plpgsql as $$
      declare r dws.${table}; begin
        if tg_op = 'DELETE' then r := old; else r := new; end if;
        if tg_op = 'DELETE' or (${but}) then delete from dws.search_entry where ${key};
        elsif tg_op = 'UPDATE' and ${texts} is not distinct from ${formerTexts} then
          update dws.search_entry set owner_id = ${owner}, updated_at = r.updated_at where ${key};
        else perform dws.put_search_entry(${values}); end if;
        return null;
      end $$;`;
}

/**
 * Returns SQL that adds the rows of a table to the global search and keeps them up to date by a trigger
 * (m005-search.ts).
 */
export function searchedTable({
  kind,
  table,
  name = 'r.name',
  slug = 'null',
  description = 'null',
  owner = 'null',
  but = 'false',
}: SearchedTable): string[] {
  const values = `r.tenant_id, '${kind}', r.id, ${owner}, ${name}, ${slug}, ${description}, r.updated_at`;
  const put = `dws.put_search_entry(${values})`;
  return [
    searchFunction({ kind, table, name, slug, description, owner, but }),
    `create trigger search_entry after insert or update or delete on dws.${table} ` +
      `for each row execute function dws.search_${table}();`,
    // The migrator itself has no access to the rows of tenants.
    `set local role dws_system; select ${put} from dws.${table} r where not (${but}); reset role;`,
  ];
}
