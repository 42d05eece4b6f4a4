import pg from 'pg';
import type { AdminQuery } from './admin.ts';

/** Columns of Postgres' catalog with definitions, comments and settingsof all apps in the database. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  'pg_catalog.pg_aggregate': ['agginitval', 'aggminitval'],
  'pg_catalog.pg_attrdef': ['adbin'],
  'pg_catalog.pg_attribute': ['attmissingval'],
  'pg_catalog.pg_class': ['relpartbound'],
  'pg_catalog.pg_constraint': ['conbin'],
  'pg_catalog.pg_db_role_setting': ['setconfig'],
  'pg_catalog.pg_description': ['description'],
  'pg_catalog.pg_enum': ['enumlabel'],
  'pg_catalog.pg_index': ['indexprs', 'indpred'],
  'pg_catalog.pg_indexes': ['indexdef'],
  'pg_catalog.pg_partitioned_table': ['partexprs'],
  'pg_catalog.pg_policies': ['qual', 'with_check'],
  'pg_catalog.pg_policy': ['polqual', 'polwithcheck'],
  'pg_catalog.pg_proc': ['proargdefaults', 'proconfig', 'prosqlbody', 'prosrc'],
  'pg_catalog.pg_rewrite': ['ev_action', 'ev_qual'],
  'pg_catalog.pg_roles': ['rolconfig'],
  'pg_catalog.pg_statistic_ext': ['stxexprs'],
  'pg_catalog.pg_trigger': ['tgargs', 'tgqual'],
  'pg_catalog.pg_type': ['typdefault', 'typdefaultbin'],
  'pg_catalog.pg_user': ['useconfig'],
  'information_schema.domains': ['domain_default'],
};

/**
 * Functions of Postgres that return definitions by an id, and functions that write past the quota of an app: large
 * objects, which have no schema, and messages in the log of changes.
 */
const FUNCTIONS: readonly string[] = [
  'pg_get_constraintdef',
  'pg_get_function_arg_default',
  'pg_get_function_arguments',
  'pg_get_function_sqlbody',
  'pg_get_functiondef',
  'pg_get_indexdef',
  'pg_get_partition_constraintdef',
  'pg_get_partkeydef',
  'pg_get_ruledef',
  'pg_get_statisticsobjdef',
  'pg_get_statisticsobjdef_expressions',
  'pg_get_triggerdef',
  'pg_get_viewdef',
  'lo_creat',
  'lo_create',
  'lo_from_bytea',
  'pg_logical_emit_message',
];

/** A relation of the catalog with a listed column that all roles can read. `visible` are its other columns as SQL. */
interface OpenRelation {
  name: string;
  visible: string;
}

const OPEN_RELATIONS = `
  select l.name,
    string_agg(quote_ident(a.attname), ', ' order by a.attnum) filter (where l.columns ->> a.attname::text is null) as visible
  from json_to_recordset($1) as l(name text, columns jsonb)
  join pg_attribute a on a.attrelid = l.name::regclass and a.attnum > 0 and not a.attisdropped
  group by l.name
  having bool_or(l.columns ->> a.attname::text is not null and has_column_privilege('public', a.attrelid, a.attnum, 'select'))
  order by l.name`;

const OPEN_FUNCTIONS = `
  select oid::regprocedure::text as name
  from pg_proc
  where pronamespace = 'pg_catalog'::regnamespace and proname = any($1) and has_function_privilege('public', oid, 'execute')
  order by name`;

async function loadOpen(query: AdminQuery): Promise<{ relations: OpenRelation[]; functions: string[] }> {
  const list = Object.entries(COLUMNS).map(([name, columns]) => ({
    name,
    columns: Object.fromEntries(columns.map((column) => [column, 1])),
  }));
  const relations = (await query(OPEN_RELATIONS, [JSON.stringify(list)])) as unknown as OpenRelation[];
  const functions = (await query(OPEN_FUNCTIONS, [FUNCTIONS])).map(({ name }) => String(name));
  return { relations, functions };
}

/**
 * Returns the names of the parts of the catalog of the apps' database that all roles can read or run, but should not.
 */
export async function openParts(query: AdminQuery): Promise<string[]> {
  const { relations, functions } = await loadOpen(query);
  return [...relations.map(({ name }) => name), ...functions];
}

/**
 * Revokes from all roles the definitions in the schemas of apps: bodies of functions, defaults, texts of views,
 * conditions, comments. Names stay visible. Only a superuser may do this. Does nothing if it is done.
 */
export async function hideDefinitions(query: AdminQuery): Promise<void> {
  const { relations, functions } = await loadOpen(query);
  for (const { name, visible } of relations) {
    await query(`revoke select on ${name} from public`);
    await query(`grant select (${visible}) on ${name} to public`);
  }
  for (const name of functions) await query(`revoke execute on function pg_catalog.${name} from public`);
}

/**
 * Postgres' error for two sessions that change the privileges of one object concurrently. It has no code of its own.
 */
const isRace = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === 'XX000' && error.message === 'tuple concurrently updated';

const MAX_ATTEMPTS = 5;

/** Runs work that changes privileges in a transaction, again if another installation changes them concurrently. */
export async function changePrivileges(query: AdminQuery, work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await query('begin');
    try {
      await work();
      await query('commit');
      return;
    } catch (error) {
      await query('rollback');
      if (!isRace(error) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
