import { searchEntry, type SearchedTable } from './searched-table.ts';

/**
 * Returns SQL that replaces the function of the trigger of `searchedTable` by one that leaves the document of an entry
 * alone if its texts have not changed.
 */
export function searchFunction(searched: SearchedTable): string {
  const { table, name, slug, description, owner, but, values, key } = searchEntry(searched);
  const texts = `row(${name}, ${slug}, ${description}, ${but})`;
  const formerTexts = texts.replaceAll(/\br\./g, 'old.');
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
