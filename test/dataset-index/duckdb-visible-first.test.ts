import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BIGINT, DuckDBConnection, DuckDBInstance, DuckDBScalarFunction, VARCHAR } from '@duckdb/node-api';
import type { DuckDBType, DuckDBValue } from '@duckdb/node-api';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openDuckdbIndex } from '../../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { folder, rowsFile } from '../../src/adapters/dataset-index/duckdb/generation-files.ts';
import { parseCriteria } from '../../src/core/criteria/parse.ts';
import type { DatasetIndex, Generation, IndexedField, Row } from '../../src/core/dataset-index.ts';
import type { Field } from '../../src/core/fields.ts';
import { aggregate, collect, fieldsOf, loadRows, NEVER, search, selectAllRows } from './generation-fixture.ts';

/*
 * The time of a query must not depend on which hidden rows it would find (docs/contract/access.md#restricted-shares).
 * These tests look at the statements of every kind of query: at the values that a question is computed from, and at the
 * plans for two generations that differ only in hidden rows.
 */

const FIELDS: Field[] = [
  { name: 'country', label: 'country', type: 'string' },
  { name: 'k', label: 'k', type: 'integer' },
  { name: 'note', label: 'note', type: 'string' },
  { name: 'price', label: 'price', type: 'number' },
];
const WIDE: Field[] = Array.from({ length: 250 }, (_, i) => ({ name: `w${i}`, label: `w${i}`, type: 'integer' }));
const ROWS = 8000;
/** Numbers and texts of hidden rows. */
const HIDDEN_NUMBER = 1000;
const HIDDEN_TEXT = 'hidden';

/** Rows. Every eighth is visible. Hidden numbers are far below or above the visible ones, and may be missing. */
const rowsWithHidden = (hidden: (n: number) => Partial<Row>): Row[] =>
  Array.from({ length: ROWS }, (_, n) =>
    n % 8 === 3
      ? { country: 'FR', k: n % 500, note: `visible ${n % 40}`, price: n / 8 }
      : { country: 'DE', ...hidden(n) },
  );
const TWINS = [
  rowsWithHidden((n) => ({ k: HIDDEN_NUMBER + (n % 3), note: `${HIDDEN_TEXT} ${n % 2}`, price: HIDDEN_NUMBER * 100 })),
  rowsWithHidden((n) => ({ k: n % 5 ? 900_000_000 + n : null, note: n % 3 ? `zz ${n}` : null, price: n - 1e9 })),
];

const RULES = {
  'a comparison': { country: 'FR' },
  'a regular expression': { country: { $regex: '^F.$' } },
  'a negated expression': { $not: { country: { $regex: '^D' } } },
  'a list': { country: { $in: ['FR', ...Array.from({ length: 60 }, (_, i) => `X${i}`)] } },
  'two alternatives': { $or: [{ country: 'FR' }, { country: { $regex: '^fr', $options: 'i' } }] },
  'a long list': { country: { $in: ['FR', ...Array.from({ length: 150 }, (_, i) => `X${i}`)] } },
};
const QUESTIONS = {
  'all rows': {},
  'a comparison': { k: { $lt: 97 } },
  'a comparison beyond the hidden values': { k: { $lt: 5000 } },
  'an equation': { k: 42 },
  'missing values': { k: null },
  'a regular expression': { note: { $regex: 'e 1' } },
  'a prefix': { note: { $regex: '^vis' } },
  'a short list': { k: { $in: [1, 2, 3, 1001] } },
  'a list': { k: { $nin: Array.from({ length: 60 }, (_, i) => i) } },
  'a long list': { note: { $in: Array.from({ length: 150 }, (_, i) => `visible ${i}`) } },
  'several conditions': { $or: [{ k: { $gt: 300 } }, { price: { $lt: 100 } }], note: { $ne: 'visible 7' } },
};

type Parts = Pick<Parameters<DatasetIndex['search']>[0], 'visible' | 'where'>;

const NAMES = FIELDS.map(({ name }) => name);
const sort = [
  { field: 'price', descending: true },
  { field: 'note', descending: false },
];
const scan = (index: DatasetIndex, generation: Generation, more: object) =>
  collect(index.scan({ ...selectAllRows(generation), fields: NAMES, sort: [], ...more }, NEVER));
const paged = async (index: DatasetIndex, generation: Generation, more: object) => {
  const { next } = await search(index, generation, { limit: 5, total: true, ...more });
  if (next) await search(index, generation, { limit: 5, total: true, ...more, after: next });
};

const KINDS: Record<string, (index: DatasetIndex, generation: Generation, parts: Parts) => Promise<unknown>> = {
  'a page': paged,
  'a sorted page': (index, generation, parts) => paged(index, generation, { ...parts, sort }),
  'a long sorted page': (index, generation, parts) => search(index, generation, { ...parts, sort, limit: 9000 }),
  'a page with words': (index, generation, parts) => paged(index, generation, { ...parts, words: ['visible', '1'] }),
  'a sorted page with words': (index, generation, parts) =>
    paged(index, generation, { ...parts, words: ['hid'], sort }),
  'an aggregation': (index, generation, parts) =>
    aggregate(index, generation, {
      ...parts,
      groupBy: [{ field: 'note' }, { field: 'k' }],
      measures: [
        { fn: 'count', as: 'n' },
        { fn: 'sum', field: 'k', as: 'sum' },
        { fn: 'max', field: 'note', as: 'most' },
        { fn: 'countDistinct', field: 'price', as: 'prices' },
      ],
      sort: [{ column: 'sum', descending: true }],
      limit: 10,
    }),
  'an aggregation without groups': (index, generation, parts) =>
    aggregate(index, generation, { ...parts, measures: [{ fn: 'min', field: 'k', as: 'least' }] }),
  'an aggregation with words': (index, generation, parts) =>
    aggregate(index, generation, { ...parts, words: ['vis'], measures: [{ fn: 'count', as: 'n' }] }),
  'a profile': (index, generation, parts) =>
    index.profile({ ...selectAllRows(generation), ...parts }, ['k', 'note', 'price'], NEVER),
  'an export': scan,
  'a sorted export': (index, generation, parts) => scan(index, generation, { ...parts, sort }),
  'an export with words': (index, generation, parts) => scan(index, generation, { ...parts, words: ['vis'] }),
};

interface Statement {
  sql: string;
  values: DuckDBValue[];
}

/** Returns the statements that an index runs during `work`. */
async function recordStatements(work: () => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = [];
  for (const method of ['runAndReadAll', 'stream'] as const) {
    const real = DuckDBConnection.prototype[method] as (...all: unknown[]) => unknown;
    vi.spyOn(DuckDBConnection.prototype, method).mockImplementation(function (
      this: DuckDBConnection,
      sql: string,
      values?: unknown,
    ) {
      statements.push({ sql, values: (values ?? []) as DuckDBValue[] });
      return real.call(this, sql, values);
    } as never);
  }
  await work();
  vi.restoreAllMocks();
  return statements;
}

describe("the row filter is settled before a restricted reader's question", () => {
  let dir: string;
  let index: DatasetIndex;
  let generations: Generation[];
  let wide: Generation;
  let connection: DuckDBConnection;
  /** Values that statements with probes read. */
  let read: Set<string>;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'dws-visible-first-'));
    index = openDuckdbIndex({ dir });
    generations = await Promise.all(TWINS.map((rows) => loadRows(index, FIELDS, rows)));
    for (const generation of generations) await index.prepareWords(generation, NEVER);
    wide = await loadRows(
      index,
      [FIELDS[0]!, FIELDS[1]!, ...WIDE],
      TWINS[0]!.slice(0, 3000).map(({ country, k }) => ({ country, k, w0: k, w249: k })),
    );
    connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
    for (const [name, type] of Object.entries({ probe_number: BIGINT, probe_text: VARCHAR }))
      connection.registerScalarFunction(probe(name, type));
  });
  afterAll(async () => {
    connection.closeSync();
    await index.close();
    await rm(dir, { recursive: true, force: true });
  });
  afterEach(() => vi.restoreAllMocks());

  /** A function that returns its argument and records it. */
  const probe = (name: string, type: DuckDBType) =>
    DuckDBScalarFunction.create({
      name,
      returnType: type,
      parameterTypes: [type],
      mainFunction: (_info, input, output) => {
        const column = input.getColumnVector(0);
        for (let i = 0; i < input.rowCount; i++) {
          const value = column.getItem(i);
          read.add(String(value));
          output.setItem(i, value);
        }
        output.flush();
      },
    });

  /** Attaches the files of a generation under the names that its statements use. */
  async function attached<T>(generation: Generation, aliases: string[], work: () => Promise<T>): Promise<T> {
    const own = folder(dir, generation.id);
    const words = (await readdir(own)).find((name) => name.startsWith('words'));
    const files = [rowsFile(dir, generation.id), join(own, words ?? 'none')];
    try {
      for (const [i, alias] of aliases.entries()) await connection.run(`ATTACH '${files[i]!}' AS ${alias} (READ_ONLY)`);
      return await work();
    } finally {
      for (const alias of aliases) await connection.run(`DETACH DATABASE IF EXISTS ${alias}`);
    }
  }
  /** Returns the names of the files of rows and words in a statement. */
  const aliasesOf = ({ sql }: Statement): string[] => {
    const names = new Map([...sql.matchAll(/\b(g\d+)\.(data|words)\b/g)].map(([, alias, table]) => [table, alias!]));
    return [names.get('data') ?? 'unused', ...(names.get('words') ? [names.get('words')!] : [])];
  };
  const partsOf = (generation: Generation, rule: object, question: object): Parts => ({
    visible: parseCriteria(rule, fieldsOf(generation)),
    where: parseCriteria(question, fieldsOf(generation)),
  });

  /** Runs a statement with a probe around each use of a column, except in the rule. Returns the values read. */
  const valuesRead = async (generation: Generation, statement: Statement): Promise<string[]> => {
    const probed = ({ type, column }: Pick<IndexedField, 'type' | 'column'>, text: string) =>
      text.replaceAll(
        new RegExp(`(?<! AS )(TRY\\(${column}\\)|\\b${column}\\b)`, 'g'),
        `probe_${type === 'integer' ? 'number' : 'text'}($1)`,
      );
    const fields = generation.fields.filter(({ name, type }) => name !== 'country' && type !== 'number');
    const sql = [...fields, { type: 'string' as const, column: 'q' }].reduce(
      (text, field) => probed(field, text),
      statement.sql,
    );
    read = new Set();
    await attached(generation, aliasesOf(statement), () => connection.runAndReadAll(sql, statement.values));
    return [...read];
  };

  /** Returns the plan of a statement without its estimates, and without the width to which it packs found values. */
  const planOf = async (generation: Generation, { sql, values }: Statement): Promise<unknown> => {
    const [[, plan] = []] = await attached(generation, aliasesOf({ sql, values }), async () =>
      (await connection.runAndReadAll(`EXPLAIN (FORMAT json) ${sql}`, values)).getRows(),
    );
    const text = String(plan).replaceAll(/__internal_(?:de)?compress_\w+\((#\d+)[^)]*\)/g, '$1');
    return JSON.parse(text, (key, value: unknown) => (key === 'Estimated Cardinality' ? undefined : value));
  };

  const isHidden = (value: string) => value.includes(HIDDEN_TEXT) || Number(value) >= HIDDEN_NUMBER;

  describe.each(Object.entries(KINDS))('in %s', (_kind, ask) => {
    test.each(Object.entries(RULES))('that is %s', async (_rule, rule) => {
      for (const [title, question] of Object.entries(QUESTIONS)) {
        const [generation, twin] = generations as [Generation, Generation];
        const statements = await recordStatements(() => ask(index, generation, partsOf(generation, rule, question)));
        expect(statements.length, title).toBeGreaterThan(0);
        const values = [];
        for (const statement of statements) {
          values.push(...(await valuesRead(generation, statement)));
          expect(await planOf(generation, statement), title).toEqual(await planOf(twin, statement));
        }
        expect(values.filter(isHidden), title).toEqual([]);
      }
    });
  });

  test('in a page and an export of very many fields', async () => {
    const fields = wide.fields.map(({ name }) => name);
    const parts = partsOf(wide, RULES['a regular expression'], QUESTIONS['a comparison']);
    const statements = await recordStatements(async () => {
      await search(index, wide, { ...parts, fields, sort: [{ field: 'w0', descending: true }] });
      await scan(index, wide, { ...parts, fields });
    });
    const values = [];
    for (const statement of statements) values.push(...(await valuesRead(wide, statement)));
    expect(statements.length).toBeGreaterThan(3);
    expect(values.filter(isHidden)).toEqual([]);
  });

  test('the same tests fail for a question whose row filter is not settled first', async () => {
    const [generation, twin] = generations as [Generation, Generation];
    const where = parseCriteria({ country: { $regex: '^F.$' }, note: { $regex: 'e' } }, fieldsOf(generation));
    const [statement] = await recordStatements(() =>
      aggregate(index, generation, { where, groupBy: [{ field: 'k' }], measures: [{ fn: 'count', as: 'n' }] }),
    );
    expect((await valuesRead(generation, statement!)).filter(isHidden)).not.toEqual([]);
    expect(await planOf(generation, statement!)).not.toEqual(await planOf(twin, statement!));
  });
});
