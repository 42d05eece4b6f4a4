import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../src/core/config.ts';
import { newId } from '../../src/core/id.ts';
import { openBackup, restoreBackup } from '../../src/server/backup/restore.ts';
import { writeTar, type TarEntry } from '../../src/server/backup/tar.ts';
import { MIGRATIONS } from '../../src/server/migrate.ts';
import { APP_SECRET, dws } from '../support/backup-fixture.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import { newFolder } from '../support/service-process.ts';

const away = newFolder();
const archive = join(away.path, 'forged');
const DATA_DIR = join(away.path, 'target');
const config = readConfig({ DATA_DIR, APP_SECRET });
let empty: TestDatabase;

beforeAll(async () => {
  empty = await createDatabase('template0');
});

afterAll(async () => {
  await empty.drop();
  away.remove();
});

const [APP, FILE] = [`apps/${newId()}/${newId()}`, `files/${newId()}`];
const MANIFEST = {
  format: 1,
  createdAt: '2027-01-31T12:00:00.000Z',
  migration: MIGRATIONS.at(-1),
  keyFingerprint: null,
  keys: [],
  hasEnd: false,
};
const STATE = { migrations: [], tables: [], sequences: [] };
const MEGABYTE = Buffer.alloc(1_000_000, ' ');

/** The parts of an archive: texts, values for JSON, or numbers of bytes. Of such bytes the archive has only the first. */
type Parts = [name: string, content: unknown][];

const manifest = (changes: object = {}): Parts[number] => ['backup.json', { ...MANIFEST, ...changes }];

/** Writes an archive. One with a part of a size ends in this part. */
async function forge(parts: Parts): Promise<void> {
  async function* spaces() {
    for (;;) yield MEGABYTE;
  }
  async function* entries(): AsyncGenerator<TarEntry> {
    for (const [name, content] of parts) {
      if (typeof content === 'number') yield { name, size: content, content: spaces() };
      const bytes = Buffer.isBuffer(content)
        ? content
        : Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
      yield { name, size: bytes.length, content: [bytes] };
    }
  }
  const written: Uint8Array[] = [];
  for await (const part of writeTar(entries())) {
    written.push(part);
    if (written.reduce((sum, { length }) => sum + length, 0) > 3_000_000) break;
  }
  writeFileSync(archive, gzipSync(Buffer.concat(written), { level: 1 }));
}

const damaged = (name: string, place: string) =>
  `The part "${name}" of the backup is damaged: it has no valid value at ${place}`;
const tooLarge = (name: string, size: number, max: number) =>
  `The part "${name}" of the backup has ${size} bytes: it may have ${max}`;
const ROWS = 'tables/tag/000001.ndjson';

test.each<[what: string, parts: Parts, message: string]>([
  ['a large manifest', [['backup.json', 1e12]], tooLarge('backup.json', 1e12, 8_000_000)],
  ['large rows', [manifest(), [ROWS, 1e12]], tooLarge(ROWS, 1e12, 64_000_000)],
  ['a large state', [manifest(), [`${APP}/state.json`, 1e12]], tooLarge(`${APP}/state.json`, 1e12, 8_000_000)],
  ['a large failure', [manifest(), [`${APP}/failed.json`, 1e12]], tooLarge(`${APP}/failed.json`, 1e12, 8_000_000)],
  ['a large end', [manifest({ hasEnd: true }), ['end.json', 1e12]], tooLarge('end.json', 1e12, 8_000_000)],
  ['no manifest', [[ROWS, '']], 'The file is not a backup of this service'],
  ['a text as manifest', [['backup.json', 'text']], 'The file is not a backup of this service'],
  ['null as manifest', [['backup.json', null]], 'The file is not a backup of this service'],
  ['keys that are a text', [manifest({ keys: 'abc' })], damaged('backup.json', 'keys')],
  ['keys that are not texts', [manifest({ keys: [1, { a: '\u{1b}[2J' }] })], damaged('backup.json', 'keys.0')],
  ['a key for terminals', [manifest({ keys: ['00ff00ff00ff00ff', '\u{1b}[2J'] })], damaged('backup.json', 'keys.1')],
  ['a newest key for terminals', [manifest({ keyFingerprint: '\u{1b}X' })], damaged('backup.json', 'keyFingerprint')],
  ['no time', [manifest({ createdAt: undefined })], damaged('backup.json', 'createdAt')],
  ['a time for terminals', [manifest({ createdAt: '\u{7}' })], damaged('backup.json', 'createdAt')],
  [
    'an end that is not JSON',
    [manifest({ hasEnd: true }), ['end.json', '{']],
    damaged('end.json', 'its first character'),
  ],
  ['an end of another form', [manifest({ hasEnd: true }), ['end.json', {}]], damaged('end.json', 'entries')],
  ['null as state', [manifest(), [`${APP}/state.json`, null]], damaged(`${APP}/state.json`, 'its first character')],
  [
    'a state of another form',
    [manifest(), [`${APP}/state.json`, { ...STATE, tables: [{ name: 'x', columns: 'a' }] }]],
    damaged(`${APP}/state.json`, 'tables.0.columns'),
  ],
  ['a failure without a reason', [manifest(), [`${APP}/failed.json`, {}]], damaged(`${APP}/failed.json`, 'reason')],
  [
    'rows before their app',
    [manifest(), [`${APP}/0/000001.copy`, 'x']],
    `The backup has an unknown part: "${APP}/0/000001.copy"`,
  ],
  [
    'rows of no table',
    [manifest(), [`${APP}/state.json`, STATE], [`${APP}/9/000001.copy`, 'x']],
    `The backup has an unknown part: "${APP}/9/000001.copy"`,
  ],
  ['a part twice', [manifest(), [FILE, 'x'], [FILE, 'y']], `The backup has the part "${FILE}" twice`],
  [
    'rows that are not JSON',
    [manifest(), [ROWS, '{"id":"x; drop"']],
    `The part "${ROWS}" of the backup cannot be restored: invalid input syntax for type json`,
  ],
  [
    'a value for terminals',
    [manifest(), [ROWS, '{"id":"\\u001b]0;owned\\u0007\\nx"}']],
    `The part "${ROWS}" of the backup cannot be restored: invalid input syntax for type uuid: " ]0;owned x"`,
  ],
  [
    'a name for terminals',
    [manifest(), ['\u{1b}]0;owned\u{7}\u{9b}31m\n\u{202e}fine', 'x']],
    String.raw`The backup has an unknown part: "\u001b]0;owned\u0007\u{9b}31m\n\u{202e}fine"`,
  ],
  ['a long name', [manifest(), ['x'.repeat(5000), 'x']], `The backup has an unknown part: "${'x'.repeat(200)}…"`],
])('a forged archive with %s is refused with a sentence, and nothing stays', async (_what, parts, message) => {
  await forge(parts);
  const restore = async () => restoreBackup(empty.url, config, await openBackup(archive));
  await expect(restore()).rejects.toThrow(new Error(message));
  expect(existsSync(DATA_DIR) ? readdirSync(DATA_DIR) : []).toEqual([]);
  expect(await runSql(empty.url, `select from pg_namespace where nspname = 'dws'`)).toEqual([]);
});

const GENERATION = newId();
const ROWS_FILE = `datasets/${GENERATION}/rows.duckdb`;
const cannot = (what: string) => `The part "${ROWS_FILE}" of the backup cannot be restored: it has ${what}`;

/** Returns the bytes of a DuckDB file after statements. */
async function rowsFileOf(sql: string): Promise<Buffer> {
  const path = join(away.path, `${newId()}.duckdb`);
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  await connection.run(sql);
  await connection.run('checkpoint');
  connection.closeSync();
  instance.closeSync();
  return readFileSync(path);
}

test.each<[what: string, sql: string]>([
  ['a view', `create view data as select 1 as c0`],
  ['a view', `create table data (c0 integer); create view other as select * from read_text('/etc/passwd')`],
  ['a macro', 'create table data (c0 integer); create macro lower(x) as 1'],
  ['a macro', 'create table data (c0 integer); create macro many() as table select 1'],
  ['a sequence', 'create table data (c0 integer); create sequence s'],
  ['a type', `create table data (c0 integer); create type mood as enum ('a')`],
  ['an index', 'create table data (c0 integer); create index i on data (c0)'],
  ['a schema', 'create table data (c0 integer); create schema s'],
  ['another table than "data"', 'create table data (c0 integer); create table other (c0 integer)'],
  ['a constraint', 'create table data (c0 integer check (c0 > 0))'],
  ['a column with another name', 'create table data (c0 integer, "c1, 2" integer)'],
  ['a column with a default or an expression', 'create table data (c0 integer, c1 integer default 7)'],
  ['a column with a default or an expression', 'create table data (c0 integer, c1 integer as (c0 + 1))'],
  ['no table "data"', 'select 1'],
])('a rows file with %s is refused, and nothing stays: %s', async (what, sql) => {
  await forge([manifest(), [ROWS_FILE, await rowsFileOf(sql)]]);
  const restore = async () => restoreBackup(empty.url, config, await openBackup(archive));
  await expect(restore()).rejects.toThrow(new Error(cannot(what)));
  expect(existsSync(DATA_DIR) ? readdirSync(DATA_DIR) : []).toEqual([]);
  expect(await runSql(empty.url, `select from pg_namespace where nspname = 'dws'`)).toEqual([]);
});

const TIME = MANIFEST.createdAt;
const IDS = { id: GENERATION, tenant_id: newId(), dataset_id: newId() };
const TABLE_ROWS = {
  generation: { ...IDS, created_at: TIME, updated_at: TIME, records: 0, size: 0, version: 1 },
  refresh_preview: { ...IDS, created_at: TIME, expires_at: TIME, records: 0, size: 0, base_definition: '' },
};

test.each<[table: keyof typeof TABLE_ROWS, column: unknown]>([
  ['generation', 'c0, (select 1)'],
  ['generation', 'c0\n'],
  ['generation', 'C0'],
  ['generation', ['c0']],
  ['refresh_preview', '_row'],
])('a field of %s with the column %j is refused, and nothing stays', async (table, column) => {
  const row = { ...TABLE_ROWS[table], fields: [{ name: 'a', type: 'string', column }] };
  await forge([manifest(), [`tables/${table}/000001.ndjson`, JSON.stringify(row)]]);
  const restore = async () => restoreBackup(empty.url, config, await openBackup(archive));
  const message = `The table "${table}" of the backup cannot be restored: a field has a wrong column`;
  await expect(restore()).rejects.toThrow(new Error(message));
  expect(existsSync(DATA_DIR) ? readdirSync(DATA_DIR) : []).toEqual([]);
  expect(await runSql(empty.url, `select from pg_namespace where nspname = 'dws'`)).toEqual([]);
});

test('the command prints one line without control characters', async () => {
  await forge([manifest(), ['\u{1b}[2Jfine\n', 'x']]);
  expect(await dws({ DATA_DIR, APP_SECRET, DATABASE_URL: empty.url }, 'restore', archive)).toEqual({
    code: 1,
    printed: `${String.raw`The backup has an unknown part: "\u001b[2Jfine\n"`}\n`,
  });
  await forge([manifest(), [`${APP}/failed.json`, { reason: '\u{1b}[2Jfine\nx' }]]);
  const { code, printed } = await dws({ DATA_DIR, APP_SECRET, DATABASE_URL: empty.url }, 'restore', archive);
  expect(code).toBe(1);
  expect(printed).toContain(`The tables of app ${APP.split('/')[2]} were not restored: [2Jfine x\n`);
});
