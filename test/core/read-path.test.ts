import 'reflect-metadata';
import { execute, parse, type GraphQLSchema } from 'graphql';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { RowReader } from '../../src/adapters/database/row-reader.ts';
import { TenantPool } from '../../src/adapters/database/tenant-pool.ts';
import type { Query, Statement } from '../../src/core/database.ts';
import type { Reader } from '../../src/core/read/reader.ts';
import type { Viewer } from '../../src/core/viewer.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import {
  ann,
  Author,
  Book,
  createShelfModels,
  createShelfSchema,
  createShelves,
  HERE,
  modelFor,
  superuser,
  THERE,
  uuid,
} from './read-shelf.ts';

type Item = Record<string, unknown>;
interface ShelfData {
  books: { total: number; start: number; count: number; items: Item[] };
  shortList: Item[];
  book: Item;
  author: Item;
  authors: Item[];
}

let database: TestDatabase;
let pool: TenantPool;
let schema: GraphQLSchema;
/** The statements of the running test. */
const statements: Statement[] = [];

function readerOf(viewer: Viewer): Reader {
  const query: Query = (statement) => {
    statements.push(statement);
    return pool.query(viewer.tenantId, statement);
  };
  return new RowReader(query, viewer, modelFor);
}

/** Runs a query. Throws its first error. */
async function run(source: string, viewer = ann): Promise<ShelfData> {
  const { data, errors } = await execute({ schema, document: parse(source), contextValue: { read: readerOf(viewer) } });
  if (errors) throw errors[0]!.originalError ?? errors[0]!;
  return JSON.parse(JSON.stringify(data)) as ShelfData;
}

async function expectNotFound(result: Promise<unknown>, message: string): Promise<void> {
  await expect(result).rejects.toMatchObject({ status: 404, message });
}

beforeAll(async () => {
  database = await createDatabase();
  await createShelves(database.url);
  await createShelfModels(database.url);
  pool = new TenantPool(database.url, 2);
  schema = await createShelfSchema();
});

afterAll(async () => {
  await pool?.close();
  await database?.drop();
});

beforeEach(() => {
  statements.length = 0;
});

describe('lists', () => {
  test('a page with relations and total is one statement, restricted by access and tenant', async () => {
    const { books } = await run(
      '{ books { total start count items { title data pages createdAt author { id name createdAt } } } }',
    );
    expect(books).toMatchObject({ total: 4, start: 0, count: 4 });
    expect(books.items.map(({ title }) => title)).toEqual(['Alpha', 'beta 50%', 'Gamma', 'Stray']);
    expect(books.items[0]).toEqual({
      title: 'Alpha',
      data: { a: [1] },
      pages: 10,
      createdAt: '2026-01-02T03:04:05.000Z',
      author: { id: uuid(20), name: 'Ada', createdAt: '2026-01-02T01:04:05.678Z' },
    });
    expect(statements).toHaveLength(1);
  });

  test('a relation to a row of another tenant is empty, even without row-level security', async () => {
    const { books } = await run('{ books(q: "stray") { items { title author { id } } } }');
    expect(books.items).toEqual([{ title: 'Stray', author: null }]);
  });

  test('superusers read all rows of their tenant', async () => {
    expect((await run('{ books { total } }', superuser)).books.total).toBe(5);
    expect((await run('{ books { total } }', { ...superuser, tenantId: THERE })).books.total).toBe(1);
  });

  test('pages do not overlap, and the total is right past the end', async () => {
    const part = async (start: number) =>
      (await run(`{ books(sort: "-pages", limit: 2, start: ${start}) { total count items { pages } } }`)).books;
    expect(await part(0)).toEqual({ total: 4, count: 2, items: [{ pages: 50 }, { pages: 30 }] });
    expect(await part(2)).toEqual({ total: 4, count: 2, items: [{ pages: 20 }, { pages: 10 }] });
    expect(await part(4)).toEqual({ total: 4, count: 0, items: [] });
    expect((await run('{ books(q: "no such") { total items { id } } }')).books).toEqual({ total: 0, items: [] });
  });

  test('a total that is not selected is not counted, a total alone reads no rows', async () => {
    await run('{ books { items { id } } }');
    await run('{ books { total } }');
    expect(statements.map(({ text }) => [text.includes('count('), text.includes('order by')])).toEqual([
      [false, true],
      [true, false],
    ]);
  });

  test('a search is literal and ignores case', async () => {
    const titles = async (q: string) =>
      (await run(`{ books(q: ${JSON.stringify(q)}) { items { title } } }`)).books.items.map(({ title }) => title);
    expect(await titles('BETA 50%')).toEqual(['beta 50%']);
    expect(await titles('5_%')).toEqual([]);
    expect(await titles('a\0')).toEqual([]);
  });

  test('a list has the condition and the sort of its resolver', async () => {
    expect((await run('{ shortList { title } }')).shortList).toEqual([
      { title: 'Stray' },
      { title: 'Gamma' },
      { title: 'beta 50%' },
    ]);
  });

  test('hostile sorts and limits are refused before a statement runs', async () => {
    await expect(run('{ books(sort: "owner_id") { items { id } } }')).rejects.toMatchObject({
      status: 400,
      message: 'Cannot sort by "owner_id"; known are title, pages',
    });
    await expect(run('{ books(limit: 0) { items { id } } }')).rejects.toMatchObject({ status: 400 });
    expect(statements).toHaveLength(0);
  });
});

describe('single rows', () => {
  test('are found by id, slug and natural id', async () => {
    for (const id of [uuid(20), 'ada', 'here:ada'])
      expect((await run(`{ author(id: "${id}") { name } }`)).author).toEqual({ name: 'Ada' });
    for (const id of ['there:ada', 'cyd', uuid(22), 'Ada'])
      await expectNotFound(run(`{ author(id: "${id}") { name } }`), `There is no author ${id}`);
  });

  test('that the viewer may not read are not found', async () => {
    await expectNotFound(run(`{ book(id: "${uuid(33)}") { title } }`), `There is no book ${uuid(33)}`);
    expect((await run(`{ book(id: "${uuid(33)}") { title } }`, superuser)).book.title).toBe('Private');
  });

  test('include what computed fields require, and their version', async () => {
    expect((await run(`{ book(id: "${uuid(30)}") { line } }`)).book.line).toBe('Alpha by Ada');
    expect(await readerOf(ann).one(Book, { title: 'Gamma' }, ['author.name'])).toEqual({
      id: uuid(32),
      version: 1,
      author: null,
    });
    expect(await readerOf(ann).find(Book, { title: 'Private' }, [])).toBeNull();
  });

  test('have no column of a lazy property, which is a secret', () => {
    expect(modelFor(Author).columns).not.toHaveProperty('secret');
  });
});

describe('relations', () => {
  test('a list is joined to its parents, with its own access filter and order', async () => {
    const { authors } = await run('{ authors { name books { title pages author { name } } } }');
    expect(authors).toEqual([
      {
        name: 'Ada',
        books: [
          { title: 'Alpha', pages: 10, author: { name: 'Ada' } },
          { title: 'beta 50%', pages: 20, author: { name: 'Ada' } },
        ],
      },
      { name: 'Bob', books: [] },
    ]);
    expect(statements).toHaveLength(1);
  });

  test('lists with arguments are one statement for all parents', async () => {
    const { authors } = await run(`{
      authors {
        name
        first: books(limit: 1) { title }
        other: books(sort: "-pages") { title }
        bookPage(limit: 1, start: 1) { total count start items { title } }
      }
    }`);
    expect(authors).toEqual([
      {
        name: 'Ada',
        first: [{ title: 'Alpha' }],
        other: [{ title: 'beta 50%' }, { title: 'Alpha' }],
        bookPage: { total: 2, count: 1, start: 1, items: [{ title: 'Alpha' }] },
      },
      { name: 'Bob', first: [], other: [], bookPage: { total: 0, count: 0, start: 1, items: [] } },
    ]);
    expect(statements).toHaveLength(4);
  });

  test('rows by id share a statement', async () => {
    const { authors } = await run('{ authors { friend { name } } }');
    expect(authors).toEqual([{ friend: { name: 'Ada' } }, { friend: { name: 'Bob' } }]);
    expect(statements).toHaveLength(2);
    expect(await readerOf(ann).many(Author, [uuid(21), 'nonsense', uuid(22), uuid(21)], ['name'])).toMatchObject([
      { name: 'Bob' },
      null,
      null,
      { name: 'Bob' },
    ]);
  });
});

test('a statement is prepared once per connection from its second use on', async () => {
  const source = '{ books(limit: 9) { items { title author { name } } } }';
  const isPrepared = async () => {
    const { text } = statements[0]!;
    const sql = `select count(*) as uses from pg_prepared_statements where statement = $1`;
    const onEachConnection = [0, 1].map(() => pool.query<{ uses: number }>(HERE, { text: sql, values: [text] }));
    return (await Promise.all(onEachConnection)).some(([row]) => row!.uses === 1);
  };
  await run(source);
  expect(await isPrepared()).toBe(false);
  await run(source);
  expect(await isPrepared()).toBe(true);
});
