import type pg from 'pg';

/** One statement of the dump. Statements are sorted by table, then by kind. */
interface DumpEntry {
  /** Name of the table, or of the function. */
  about: string;
  /** Order of the kind of statement within one table. */
  rank: number;
  text: string;
}

// The statements below return one row for each entry of the dump.

const TABLES = `
  select
    c.relname as about,
    0 as rank,
    case c.relpersistence when 'u' then 'create unlogged table ' else 'create table ' end
      || 'dws.' || quote_ident(c.relname) || E' (\\n'
      || (
        select string_agg(
          '  ' || quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
            || case when a.attnotnull then ' not null' else '' end
            || coalesce(
              case
                when a.attgenerated <> ''
                  then ' generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored'
                else ' default ' || pg_get_expr(d.adbin, d.adrelid)
              end,
              ''
            ),
          E',\\n' order by a.attname
        )
        from pg_attribute a
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      )
      || E'\\n);'
      || case
        when c.relrowsecurity
          then E'\\nalter table dws.' || quote_ident(c.relname) || ' enable row level security;'
        else ''
      end
      || case
        when c.relforcerowsecurity
          then E'\\nalter table dws.' || quote_ident(c.relname) || ' force row level security;'
        else ''
      end as text
  from pg_class c
  where c.relnamespace = 'dws'::regnamespace and c.relkind in ('r', 'p')`;

// Postgres 18 lists NOT NULL among the constraints. The columns contain it already.
const CONSTRAINTS = `
  select
    c.relname as about,
    1 as rank,
    'alter table dws.' || quote_ident(c.relname) || ' add constraint ' || quote_ident(k.conname)
      || ' ' || pg_get_constraintdef(k.oid) || ';' as text
  from pg_constraint k
  join pg_class c on c.oid = k.conrelid
  where k.connamespace = 'dws'::regnamespace and k.contype <> 'n'`;

const INDEXES = `
  select c.relname as about, 2 as rank, pg_get_indexdef(i.indexrelid) || ';' as text
  from pg_index i
  join pg_class c on c.oid = i.indrelid
  where c.relnamespace = 'dws'::regnamespace
    and not exists (select from pg_constraint k where k.conindid = i.indexrelid)`;

const POLICIES = `
  select
    tablename as about,
    3 as rank,
    'create policy ' || quote_ident(policyname) || ' on dws.' || quote_ident(tablename)
      || case permissive when 'PERMISSIVE' then '' else ' as restrictive' end
      || ' for ' || lower(cmd) || ' to ' || array_to_string(roles, ', ')
      || coalesce(' using (' || qual || ')', '')
      || coalesce(' with check (' || with_check || ')', '') || ';' as text
  from pg_policies
  where schemaname = 'dws'`;

const TRIGGERS = `
  select c.relname as about, 4 as rank, pg_get_triggerdef(t.oid) || ';' as text
  from pg_trigger t
  join pg_class c on c.oid = t.tgrelid
  where c.relnamespace = 'dws'::regnamespace and not t.tgisinternal`;

const GRANTS = `
  select
    c.relname as about,
    5 as rank,
    'grant ' || string_agg(lower(g.privilege_type), ', ' order by g.privilege_type)
      || ' on dws.' || quote_ident(c.relname) || ' to ' || g.grantee::regrole || ';' as text
  from pg_class c
  cross join aclexplode(c.relacl) g
  where c.relnamespace = 'dws'::regnamespace
    and c.relkind in ('r', 'p', 'S', 'v')
    and g.grantee <> c.relowner
    and g.grantee <> 0
  group by c.relname, g.grantee`;

const FUNCTIONS = `
  select
    'function ' || p.proname as about,
    6 as rank,
    rtrim(pg_get_functiondef(p.oid), E' \\n') || ';' as text
  from pg_proc p
  where p.pronamespace = 'dws'::regnamespace`;

/** Tables of others: MikroORM owns the table of applied migrations. */
const FOREIGN_TABLES = new Set(['migration']);

/**
 * Returns the objects that the migrations created, as SQL: tables with columns, constraints, indexes, policies,
 * triggers and grants, then functions. The text is for reading and comparing: it is sorted, columns by name, so that
 * equal databases have equal texts.
 */
export async function dumpDatabase(client: pg.Client): Promise<string> {
  await client.query(`set search_path = pg_catalog`);
  const entries: DumpEntry[] = [];
  for (const statement of [TABLES, CONSTRAINTS, INDEXES, POLICIES, TRIGGERS, GRANTS, FUNCTIONS])
    entries.push(...(await client.query<DumpEntry>(statement)).rows);
  const sorted = entries
    .filter(({ about }) => !FOREIGN_TABLES.has(about))
    .toSorted(
      (one, other) => compare(one.about, other.about) || one.rank - other.rank || compare(one.text, other.text),
    );
  const entriesByTable = Map.groupBy(sorted, ({ about }) => about);
  const paragraphs = [...entriesByTable.values()].map((entries) => entries.map(({ text }) => text).join('\n'));
  return `${paragraphs.join('\n\n')}\n`;
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
