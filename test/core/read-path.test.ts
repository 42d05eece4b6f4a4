import 'reflect-metadata';
import { Entity, ManyToOne, OneToMany, Property, ReflectMetadataProvider } from '@mikro-orm/decorators/legacy';
import { Collection, MikroORM, type Options, type Rel } from '@mikro-orm/postgresql';
import { execute, parse, type GraphQLResolveInfo, type GraphQLSchema } from 'graphql';
import {
  Arg,
  Args,
  ArgsType,
  buildSchema,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Info,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TenantRow } from '../../entities/tenant-row.ts';
import { TenantPool } from '../../src/adapters/database/tenant-pool.ts';
import { createModel } from '../../src/adapters/database/entity-model.ts';
import { RowReader } from '../../src/adapters/database/row-reader.ts';
import type { Statement } from '../../src/core/database.ts';
import { Requires, toMany, type Model } from '../../src/core/read/model.ts';
import type { EntityType, Reader } from '../../src/core/read/reader.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import type { Viewer } from '../../src/core/viewer.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';

@ObjectType()
@Entity({ tableName: 'shelf_author', schema: 'dws' })
class Author extends TenantRow {
  @Field(() => String)
  @Property({ type: 'text' })
  name!: string;

  @Property({ type: 'text' })
  slug!: string;

  @Property({ type: 'text', lazy: true })
  secret!: string;

  @OneToMany(() => Book, (book) => book.author)
  books = new Collection<Book>(this);
}

@ObjectType()
@Entity({ tableName: 'shelf_book', schema: 'dws' })
class Book extends TenantRow {
  @Field(() => String)
  @Property({ type: 'text' })
  title!: string;

  @Property({ type: 'text' })
  ownerId!: string;

  @Field(() => JsonObject)
  @Property({ type: 'json' })
  data!: Record<string, unknown>;

  @Field(() => Int)
  @Property({ type: 'integer', columnType: 'bigint' })
  pages!: number;

  @Field(() => Author, { nullable: true })
  @ManyToOne(() => Author, { nullable: true })
  author?: Rel<Author> | null;
}

@ArgsType()
class ListArgs {
  @Field(() => Int, { nullable: true }) limit?: number;
  @Field(() => Int, { nullable: true }) start?: number;
  @Field({ nullable: true }) sort?: string;
  @Field({ nullable: true }) q?: string;
}

@ObjectType()
class BookPage {
  @Field(() => [Book]) items!: Book[];
  @Field(() => Int) start!: number;
  @Field(() => Int) count!: number;
  @Field(() => Int) total!: number;
}

interface World {
  read: Reader;
}

@Resolver(() => Book)
class BookResolver {
  @Query(() => BookPage) books(
    @Ctx() { read }: World,
    @Args(() => ListArgs) args: ListArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return read.page(Book, args, info);
  }
  @Query(() => Book) book(@Ctx() { read }: World, @Arg('id', () => ID) id: string, @Info() info: GraphQLResolveInfo) {
    return read.one(Book, id, info);
  }
  @Query(() => [Book]) shortList(@Ctx() { read }: World, @Info() info: GraphQLResolveInfo) {
    return read.list(Book, info, { sql: 'pages > ?', params: [15] }, { sort: '-title' });
  }
  @Requires('title', 'author.name') @FieldResolver(() => String) line(
    @Root() book: { title: string; author: { name: string } | null },
  ): string {
    return `${book.title} by ${book.author?.name ?? 'nobody'}`;
  }
}

@Resolver(() => Author)
class AuthorResolver {
  @Query(() => [Author]) authors(@Ctx() { read }: World, @Info() info: GraphQLResolveInfo) {
    return read.list(Author, info);
  }
  @Query(() => Author) author(
    @Ctx() { read }: World,
    @Arg('id', () => ID) id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    return read.one(Author, id, info);
  }
  @FieldResolver(() => [Book]) books(
    @Ctx() { read }: World,
    @Root() author: { id: string },
    @Args(() => ListArgs) args: ListArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return read.children(Author, 'books', author, info, args);
  }
  @FieldResolver(() => BookPage) bookPage(
    @Ctx() { read }: World,
    @Root() author: { id: string },
    @Args(() => ListArgs) args: ListArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return read.childPage(Author, 'bookPage', author, info, args);
  }
  @FieldResolver(() => Author, { nullable: true }) async friend(
    @Ctx() { read }: World,
    @Root() author: { id: string },
    @Info() info: GraphQLResolveInfo,
  ) {
    return (await read.many(Author, [author.id], info))[0];
  }
}

const uuid = (n: number) => `0190a0a0-0000-7000-8000-${String(n).padStart(12, '0')}`;
const [HERE, THERE] = [uuid(1), uuid(2)];
const ann: Viewer = {
  userId: uuid(10),
  username: 'ann',
  tenantId: HERE,
  tenant: 'here',
  superuser: false,
  principals: [`user:${uuid(10)}`],
  teamRoles: {},
  permissions: new Set(),
  authMethod: 'session',
  scopes: new Set(['read']),
  credentialId: uuid(11),
  expiresAt: null,
};
const root: Viewer = { ...ann, superuser: true };

let database: TestDatabase;
let pool: TenantPool;
let schema: GraphQLSchema;
const models = new Map<EntityType, Model>();
const statements: Statement[] = [];

const readerOf = (viewer: Viewer): Reader =>
  new RowReader(
    (statement) => {
      statements.push(statement);
      return pool.query(viewer.tenantId, statement);
    },
    viewer,
    (kind) => models.get(kind)!,
  );

type Item = Record<string, unknown>;
interface Answer {
  books: { total: number; start: number; count: number; items: Item[] };
  shortList: Item[];
  book: Item;
  author: Item;
  authors: Item[];
}

async function run(source: string, viewer = ann): Promise<Answer> {
  const { data, errors } = await execute({ schema, document: parse(source), contextValue: { read: readerOf(viewer) } });
  if (errors) throw errors[0]!.originalError ?? errors[0]!;
  return JSON.parse(JSON.stringify(data)) as Answer;
}

beforeAll(async () => {
  database = await createDatabase();
  await runSql(
    database.url,
    `
    create table dws.shelf_author (id uuid primary key, tenant_id uuid not null, version int not null default 1, created_at timestamptz not null, updated_at timestamptz not null default now(), name text not null, slug text not null, secret text not null);
    create table dws.shelf_book (id uuid primary key, tenant_id uuid not null, version int not null default 1, created_at timestamptz not null, updated_at timestamptz not null default now(), title text not null, owner_id text not null, data jsonb not null, pages bigint not null, author_id uuid);
    grant select on dws.shelf_author, dws.shelf_book to dws_app;
    insert into dws.shelf_author (id, tenant_id, created_at, name, slug, secret) values
      ('${uuid(20)}', '${HERE}', '2026-01-02T03:04:05.678901+02', 'Ada', 'ada', 'x'), ('${uuid(21)}', '${HERE}', now(), 'Bob', 'bob', 'x'), ('${uuid(22)}', '${THERE}', now(), 'Cyd', 'cyd', 'x');
    insert into dws.shelf_book (id, tenant_id, created_at, title, owner_id, data, pages, author_id) values
      ('${uuid(30)}', '${HERE}', '2026-01-02T03:04:05Z', 'Alpha', 'user:${uuid(10)}', '{"a": [1]}', 10, '${uuid(20)}'),
      ('${uuid(31)}', '${HERE}', now(), 'beta 50%', 'user:${uuid(10)}', '{}', 20, '${uuid(20)}'),
      ('${uuid(32)}', '${HERE}', now(), 'Gamma', 'user:${uuid(10)}', '{}', 30, null),
      ('${uuid(33)}', '${HERE}', now(), 'Private', 'user:${uuid(99)}', '{}', 40, '${uuid(20)}'),
      ('${uuid(34)}', '${HERE}', now(), 'Stray', 'user:${uuid(10)}', '{}', 50, '${uuid(22)}'),
      ('${uuid(35)}', '${THERE}', now(), 'Foreign', 'user:${uuid(10)}', '{}', 60, '${uuid(20)}')`,
  );
  pool = new TenantPool(database.url, 2);
  const orm = await MikroORM.init({
    entities: [Author, Book],
    metadataProvider: ReflectMetadataProvider,
    clientUrl: database.url,
  } as Options);
  const modelFor = (kind: EntityType) => models.get(kind)!;
  models.set(
    Author,
    createModel(
      orm.getMetadata().get(Author),
      { relations: { bookPage: toMany(() => modelFor(Book), 'author_id', '-title') } },
      modelFor,
    ),
  );
  models.set(
    Book,
    createModel(
      orm.getMetadata().get(Book),
      {
        searchedFields: ['title'],
        sortable: ['title', 'pages'],
        defaultSort: 'title',
        accessFilter: ({ superuser, principals }) =>
          superuser ? null : { sql: 'owner_id = any(?)', params: [principals] },
      },
      modelFor,
    ),
  );
  await orm.close(true);
  schema = await buildSchema({ resolvers: [BookResolver, AuthorResolver], validate: false });
});

afterAll(async () => {
  await pool?.close();
  await database?.drop();
});

beforeEach(() => {
  statements.length = 0;
});

describe('lists', () => {
  test('a page with relations and total is one statement, under rights and tenant', async () => {
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

  test('a relation to another tenant’s row is empty, though nothing but the statement guards these tables', async () => {
    const { books } = await run('{ books(q: "stray") { items { title author { id } } } }');
    expect(books.items).toEqual([{ title: 'Stray', author: null }]);
  });

  test('superusers see the rows of everybody in their tenant', async () => {
    expect((await run('{ books { total } }', root)).books.total).toBe(5);
    expect((await run('{ books { total } }', { ...root, tenantId: THERE })).books.total).toBe(1);
  });

  test('parts follow one another, past the end the total is still right', async () => {
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

  test('a list with a condition of ours', async () => {
    expect((await run('{ shortList { title } }')).shortList).toEqual([
      { title: 'Stray' },
      { title: 'Gamma' },
      { title: 'beta 50%' },
    ]);
  });

  test('hostile sorts and limits are refused before anything runs', async () => {
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
      await expect(run(`{ author(id: "${id}") { name } }`)).rejects.toMatchObject({
        status: 404,
        message: `There is no author ${id}`,
      });
  });

  test('that the viewer may not read do not exist', async () => {
    await expect(run(`{ book(id: "${uuid(33)}") { title } }`)).rejects.toMatchObject({
      status: 404,
      message: `There is no book ${uuid(33)}`,
    });
    expect((await run(`{ book(id: "${uuid(33)}") { title } }`, root)).book.title).toBe('Private');
  });

  test('carry what computed fields need, and their version', async () => {
    expect((await run(`{ book(id: "${uuid(30)}") { line } }`)).book.line).toBe('Alpha by Ada');
    expect(await readerOf(ann).one(Book, { title: 'Gamma' }, ['author.name'])).toEqual({
      id: uuid(32),
      version: 1,
      author: null,
    });
    expect(await readerOf(ann).find(Book, { title: 'Private' }, [])).toBeNull();
  });

  test('never hold a lazy property: it is a secret', () => {
    expect(models.get(Author)!.columns).not.toHaveProperty('secret');
  });
});

describe('relations', () => {
  test('a list below comes with its parents, under its own rights, in order', async () => {
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

  test('lists with arguments cost one statement a level and arguments, however many parents', async () => {
    const { authors } = await run(
      '{ authors { name first: books(limit: 1) { title } other: books(sort: "-pages") { title } bookPage(limit: 1, start: 1) { total count start items { title } } } }',
    );
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
  for (let i = 0; i < 3; i++) await run(source);
  const names = statements.map(({ name }) => name);
  expect(names).toEqual([undefined, names[2], names[2]]);
  const client = await pool.acquire(HERE);
  const { rows } = await client.query('select statement from pg_prepared_statements where name = $1', [names[2]]);
  client.release();
  expect(rows).toEqual([{ statement: statements[2]!.text }]);
});
