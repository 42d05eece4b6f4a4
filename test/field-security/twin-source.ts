import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import type { Shop } from '../support/shop-fixture.ts';

/** Contained in every hidden name, text and description, and in nothing else. */
export const SECRET = 'qzx';

/** Number of rows that the reader may see. */
export const VISIBLE_ROWS = 40;
/** Fields that the reader may see, in order. */
export const VISIBLE_FIELDS = ['id', 'region', 'amount', 'units', 'ok', 'day', 'at', 'note', 'extra'];

/** The parts of a twin that are hidden from the reader. */
export interface HiddenParts {
  name: string;
  table: string;
  rows: number;
  query: string;
  /** Further input of the dataset. */
  input: Record<string, unknown>;
  /** Criteria of the reader's share. */
  criteria: Record<string, unknown>;
  /** Criteria of the filter of the reader's team. */
  teamCriteria: Record<string, unknown>;
  /** Visible fields of the other share. */
  othersFields: string[];
}

/** Hidden numbers begin with 77700, hidden years are 1 and 9999. The twin with 12,571 hidden rows has 12,611 rows. */
export const HIDDEN_PARTS: readonly HiddenParts[] = [
  {
    name: 'Amethyst',
    table: 'qzx_amethyst',
    rows: 3,
    query: `
      select id, region, amount, units, ok, day, at, note, extra, qzx_region
      from qzx_amethyst
      where qzx_guard('amethyst')
      order by n`,
    input: { settings: { qzx: 'few' } },
    criteria: { qzx_region: 'qzx-open' },
    teamCriteria: { qzx_region: 'qzx-shut' },
    othersFields: ['id', 'qzx_region'],
  },
  {
    name: 'Bergamot',
    table: 'qzx_bergamot',
    rows: 12_571,
    query: `
      select qzx_note, id, "Region", region, amount, qzx_salary, units, ok, day, at, qzx_doc, note, extra, qzx_region
      from qzx_bergamot
      where qzx_guard('bergamot') and {{qzx_least}} < 777001
      order by n`,
    input: {
      settings: { list: ['qzx', 'many'], deep: { qzx: 777_002 } },
      params: [{ name: 'qzx_least', dataType: 'number', defaultValue: 777_000, label: 'qzx least' }],
      flow: [
        { type: 'calculate', field: 'qzx_twice', expression: 'qzx_salary * 2' },
        { type: 'filter', criteria: { qzx_salary: { $gte: 777_000 } } },
      ],
    },
    criteria: { $and: [{ qzx_region: { $in: ['qzx-open', 'qzx-ajar'] } }, { qzx_salary: { $gte: 777_001 } }] },
    teamCriteria: { qzx_salary: { $gte: 777_003 }, Region: 'qzx-west' },
    othersFields: ['qzx_salary', 'Region', 'id'],
  },
];

const COLUMNS =
  'n, id, region, amount, units, ok, day, at, note, extra, qzx_region, qzx_note, "Region", qzx_salary, qzx_doc';

/** Returns SQL of the visible rows. Their hidden fields differ by `word`. */
const visible = (word: string) => `
  select
    i * 100,
    i * 1000,
    (array['EU', 'US', 'APAC', null])[1 + i % 4],
    i * 10.25,
    i % 7,
    case when i % 5 > 0 then i % 3 = 0 end,
    date '2001-01-01' + i * 3,
    timestamptz '2001-01-01 10:00Z' + i * interval '5 hours',
    case when i % 5 = 0 then 'Rush delivery to Zoë ' || i end,
    jsonb_build_object('rank', i % 3),
    'qzx-open',
    'qzx ${word} rush zoe ' || i,
    'qzx-${word}',
    777001 + i * ${word.length},
    jsonb_build_object('qzx', i)
  from generate_series(1, ${VISIBLE_ROWS}) i`;

/**
 * Returns SQL of hidden rows before, between and behind the visible ones. Their values would be top values, minima,
 * maxima, and matches of search words and patterns.
 */
const hidden = (word: string, rows: number) => `
  select
    case j % 3 when 0 then -j when 1 then 150 + 100 * (j % 39) else 1000000 + j end,
    case j % 3 when 0 then -777000 - j when 1 then 500 + 1000 * (j % 40) else 777000000 + j end,
    (array['qzx-xanadu', 'EU', 'qzx-aachen'])[1 + j % 3],
    (array[-777001.5, 777001.5, 102.5])[1 + j % 3],
    (array[-777001, 777001, 3])[1 + j % 3],
    true,
    (array[date '0001-01-01', date '9999-12-31', date '2001-02-03'])[1 + j % 3],
    (array[timestamptz '0001-01-01 00:00Z', '9999-12-31 00:00Z', '2001-01-03 00:00Z'])[1 + j % 3],
    'Rush qzxzebra delivery to Zoë',
    '{"rank": "qzx"}',
    (array['qzx-shut', 'qzx-closed', 'qzx-barred'])[1 + j % 3],
    'qzx ${word} zebra',
    'qzx-west',
    777001 + j,
    '{"qzx": "hidden"}'
  from generate_series(1, ${rows}) j`;

const TABLE = `(
  n integer, id integer, region text, amount numeric(10,2), units integer, ok boolean, day date, at timestamptz,
  note text, extra jsonb, qzx_region text, qzx_note text, "Region" text, qzx_salary integer, qzx_doc jsonb)`;

/** Opens a database with the twins' tables. Queries fail with a secret message while `qzx_switch` has a row. */
export async function openTwinSource(): Promise<Shop & { drop(): Promise<void> }> {
  const database = await createDatabase('template0');
  await runSql(
    database.url,
    `create table qzx_switch (closed integer);
    create function qzx_guard(twin text) returns boolean language plpgsql stable as $$
    begin
      if exists (select from qzx_switch) then
        raise exception 'qzx guard of % failed at 77700%', twin, length(twin);
      end if;
      return true;
    end $$`,
  );
  for (const { table, rows } of HIDDEN_PARTS) {
    await runSql(
      database.url,
      `create table ${table} ${TABLE};
      insert into ${table} (${COLUMNS}) ${visible(table.slice(4))};
      insert into ${table} (${COLUMNS}) ${hidden(table.slice(4), rows)}`,
    );
  }
  const { hostname, port, pathname, username, password } = new URL(database.url);
  return {
    url: database.url,
    drop: database.drop,
    sql: (text, values) => runSql(database.url, text, values),
    config: { host: hostname, port: Number(port), database: pathname.slice(1), user: username },
    secrets: { password },
  };
}
