import { Migration } from '@mikro-orm/migrations';
import { CJK, LETTERS, SEARCHED_TABLES } from './search-constants.ts';
import { searchedTable } from './searched-table.ts';
import { ofTenants } from './tenant-table.ts';

/**
 * Diacritics of Latin, Greek, Cyrillic, Hebrew and Arabic letters. Marks of kana remain, because they change the letter.
 */
const MARKS = String.raw`[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0]`;
/** Letters that NFKD does not decompose to a base letter, and capitals that `lower` ignores in the locale C. */
const UNFOLDED = 'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯÆŒÞẞØŁĐÐĦŊŦøłđðħıȷŋŧĸƀƒǥɨƶς';
const FOLDED = 'αβγδεζηθικλμνξοπρστυφχψωабвгдежзийклмнопрстуфхцчшщъыьэюяæœþßolddhntolddhijntkbfgizσ';

/** Creates the search over all content: one table for all kinds, updated by a trigger on each. */
export class Search extends Migration {
  override up(): void {
    this.createWordFunctions();
    this.addSql(`create table dws.search_entry (tenant_id uuid not null references dws.tenant,
      kind text not null, id uuid not null, owner_id text, name text not null, slug text, description text,
      updated_at timestamptz not null, folded text not null, document tsvector not null,
      primary key (tenant_id, kind, id));`);
    this.addSql(`create index search_entry_document on dws.search_entry using gin (document);`);
    this.addSql(ofTenants('search_entry'));
    this.createEntries();
    this.createTagTriggers();
    this.createMatchFunction();
  }

  /**
   * Creates functions that split text into words, almost as src/core/search-words.ts does. Postgres inlines the SQL
   * functions and caches the plans of the plpgsql functions with `force_generic_plan`; together this reduces the time
   * of a write to a third.
   */
  private createWordFunctions(): void {
    this.addSql(
      String.raw`create function dws.fold(text) returns text language sql immutable parallel safe as $$
      select replace(replace(replace(replace(translate(lower(normalize(regexp_replace(normalize($1, NFKD), ` +
        String.raw`'${MARKS}+', '', 'g'), NFC)), '${UNFOLDED}', '${FOLDED}'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th') $$;`,
    );
    this.addSql(
      String.raw`create function dws.words(text) returns setof text language sql immutable parallel ` +
        String.raw`safe rows 20 as $$
      select distinct left(word, 64) from regexp_split_to_table(regexp_replace(dws.fold($1), '([${CJK}])', ` +
        String.raw`' \1 ', 'g'), '[^${LETTERS}]+') word where word <> '' $$;`,
    );
    // Returns the word, and the word without one of its letters. Two words that differ by one typing error have one of
    // these in common.
    this.addSql(
      `create function dws.slips(word text) returns setof text language sql immutable parallel safe ` +
        `rows 10 as $$
      select distinct '~' || rtrim(overlay(word || ' ' placing '' from place for 1)) from generate_series(1, ` +
        `length(word) + 1) place where length(word) between 4 and 24 $$;`,
    );
    this.addSql(
      `create function dws.search_document(name text, slug text, tags text, ` +
        `description text) returns tsvector language plpgsql immutable parallel safe set plan_cache_mode = ` +
        `force_generic_plan as $$
      begin
        return (with named as materialized (select word from dws.words(name) word) ` +
        `select coalesce(string_agg(entry, ' '), '')::tsvector from (
          select quote_literal(word) || ':1A' as entry from named
          union all select quote_literal(word) || ':2B' from dws.words(slug) word
          union all select quote_literal(word) || ':3C' from dws.words(tags) word
          union all select quote_literal(word) || ':4D' from dws.words(left(description, 10000)) word
          union all select quote_literal(slip) from named, dws.slips(word) slip) entries);
      end $$;`,
    );
    // Every word must be the prefix of a word of the document. `mark` is ":*" to search all of it, ":*A" to
    // search only the name.
    this.addSql(
      `create function dws.search_query(q text, mark text, ` +
        `slips boolean) returns tsquery language plpgsql immutable parallel safe set plan_cache_mode = force_generic_plan as $$
      begin
        return (select string_agg('(' || quote_literal(word) || mark || coalesce((select string_agg(' | ' || ` +
        `quote_literal(slip), '') from dws.slips(word) slip where slips), '') || ')', ' & ')::tsquery from dws.words(q) word);
      end $$;`,
    );
  }

  private createEntries(): void {
    this.addSql(
      `create function dws.put_search_entry(of_tenant uuid, of_kind text, of_id uuid, owner text, ` +
        `new_name text, new_slug text, new_description text, changed timestamptz) returns void language plpgsql as $$
      begin
        update dws.search_entry set owner_id = owner, ` +
        `updated_at = changed where tenant_id = of_tenant and kind = of_kind and id = of_id
          and name = new_name and slug is not distinct from new_slug and description is not distinct ` +
        `from new_description;
        if found then return; end if;
        insert into dws.search_entry as e (tenant_id, kind, id, owner_id, name, slug, description, updated_at, ` +
        `folded, document)
          values (of_tenant, of_kind, of_id, owner, new_name, new_slug, new_description, changed, ` +
        `dws.fold(new_name), dws.search_document(new_name, new_slug, dws.tag_names(of_tenant, of_kind, of_id), new_description))
          on conflict (tenant_id, kind, id) do update set owner_id = excluded.owner_id, name = excluded.name, ` +
        `slug = excluded.slug, description = excluded.description,
            updated_at = excluded.updated_at, folded = excluded.folded, document = excluded.document;
      end $$;`,
    );
    this.addSql(
      `create function dws.tag_names(of_tenant uuid, of_kind text, ` +
        `of_id uuid) returns text language sql stable as $$
      select string_agg(t.name, ' ') from dws.tag_assignment a join dws.tag t on t.id = a.tag_id ` +
        `where a.tenant_id = of_tenant and a.kind = of_kind and a.resource_id = of_id $$;`,
    );
    for (const table of SEARCHED_TABLES) for (const sql of searchedTable(table)) this.addSql(sql);
  }

  /** Updates the entries of a resource when its tags change or are renamed. */
  private createTagTriggers(): void {
    const document = 'dws.search_document(e.name, e.slug, dws.tag_names(e.tenant_id, e.kind, e.id), e.description)';
    this.addSql(
      `create function dws.search_tagged() returns trigger language plpgsql as $$
      declare r record; begin
        if tg_op = 'DELETE' then r := old; else r := new; end if;
        update dws.search_entry e set document = ${document} where e.tenant_id = r.tenant_id and e.kind = r.kind ` +
        `and e.id = r.resource_id;
        return null;
      end $$;`,
    );
    this.addSql(
      `create trigger search_entry after insert or delete on dws.tag_assignment for each row
        execute function dws.search_tagged();`,
    );
    this.addSql(
      `create function dws.search_renamed_tag() returns trigger language plpgsql as $$
      begin
        update dws.search_entry e set document = ${document} from dws.tag_assignment a where a.tenant_id = ` +
        `new.tenant_id and a.tag_id = new.id and e.tenant_id = a.tenant_id and e.kind = a.kind and e.id = a.resource_id;
        return null;
      end $$;`,
    );
    this.addSql(
      `create trigger search_tagged after update of name on dws.tag for each row when (old.name <> new.name)
        execute function dws.search_renamed_tag();`,
    );
  }

  /**
   * Finds the matches in the caller's tenant, without access checks, and scores them: 1 the name is `q`, 0.8 the name
   * starts with `q`, 0.6 all words are in the name, 0.4 all words are in the entry, 0.2 with typing errors. Under
   * row-level security Postgres uses an index only with leakproof operators, and `@@` is not one. So the function runs
   * as the role that sees all tenants and filters by the tenant itself. Subselects compute their value once, not for each
   * row.
   */
  private createMatchFunction(): void {
    this.addSql(
      `create function dws.search_matches(q text) returns table (kind text, id uuid, owner_id text, ` +
        `folded text, score double precision) language sql stable security definer
      set search_path = pg_catalog, pg_temp rows 100 as $$
      select e.kind, e.id, e.owner_id, e.folded, ` +
        `case when e.folded = (select dws.fold(btrim(q))) then 1 when starts_with(e.folded, ` +
        `(select dws.fold(btrim(q)))) then 0.8
        when e.document @@ (select dws.search_query(q, ':*A', ` +
        `false)) then 0.6 when e.document @@ (select dws.search_query(q, ':*', false)) then 0.4 else 0.2 end
      from dws.search_entry e where e.tenant_id = (select current_setting('app.tenant')::uuid) ` +
        `and e.document @@ (select dws.search_query(q, ':*', true)) $$;`,
    );
    this.addSql(
      `revoke all on function dws.search_matches(text) from public; grant execute on function
        dws.search_matches(text) to dws_app;`,
    );
    this.addSql(
      `grant create on schema dws to dws_system; alter function dws.search_matches(text) owner to dws_system;
        revoke create on schema dws from dws_system;`,
    );
  }
}
