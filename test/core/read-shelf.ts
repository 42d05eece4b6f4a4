import 'reflect-metadata';
import { Entity, Property, ReflectMetadataProvider } from '@mikro-orm/decorators/legacy';
import { MikroORM, type Options } from '@mikro-orm/postgresql';
import type { GraphQLResolveInfo, GraphQLSchema } from 'graphql';
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
import { TenantRow } from '../../entities/tenant-row.ts';
import { createModel, type ModelOptions } from '../../src/adapters/database/entity-model.ts';
import { Requires, toMany, toOne, type Model } from '../../src/core/read/model.ts';
import type { EntityType, Reader } from '../../src/core/read/reader.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import type { Viewer } from '../../src/core/viewer.ts';
import { runSql } from '../support/run-sql.ts';

@ObjectType()
@Entity({ tableName: 'shelf_author', schema: 'dws' })
export class Author extends TenantRow {
  @Field(() => String)
  @Property({ type: 'text' })
  name!: string;

  @Property({ type: 'text' })
  slug!: string;

  @Property({ type: 'text', lazy: true })
  secret!: string;
}

@ObjectType()
@Entity({ tableName: 'shelf_book', schema: 'dws' })
export class Book extends TenantRow {
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
  author!: Author | null;
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

interface ShelfContext {
  read: Reader;
}

@Resolver(() => Book)
class BookResolver {
  @Query(() => BookPage) books(
    @Ctx() { read }: ShelfContext,
    @Args(() => ListArgs) args: ListArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return read.page(Book, args, info);
  }
  @Query(() => Book) book(
    @Ctx() { read }: ShelfContext,
    @Arg('id', () => ID) id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    return read.one(Book, id, info);
  }
  @Query(() => [Book]) shortList(@Ctx() { read }: ShelfContext, @Info() info: GraphQLResolveInfo) {
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
  @Query(() => [Author]) authors(@Ctx() { read }: ShelfContext, @Info() info: GraphQLResolveInfo) {
    return read.list(Author, info);
  }
  @Query(() => Author) author(
    @Ctx() { read }: ShelfContext,
    @Arg('id', () => ID) id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    return read.one(Author, id, info);
  }
  @FieldResolver(() => [Book]) books(
    @Ctx() { read }: ShelfContext,
    @Root() author: { id: string },
    @Args(() => ListArgs) args: ListArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return read.children(Author, 'books', author, info, args);
  }
  @FieldResolver(() => BookPage) bookPage(
    @Ctx() { read }: ShelfContext,
    @Root() author: { id: string },
    @Args(() => ListArgs) args: ListArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return read.childPage(Author, 'bookPage', author, info, args);
  }
  @FieldResolver(() => Author, { nullable: true }) async friend(
    @Ctx() { read }: ShelfContext,
    @Root() author: { id: string },
    @Info() info: GraphQLResolveInfo,
  ) {
    return (await read.many(Author, [author.id], info))[0];
  }
}

export const uuid = (n: number) => `0190a0a0-0000-7000-8000-${String(n).padStart(12, '0')}`;
export const [HERE, THERE] = [uuid(1), uuid(2)];
export const ann: Viewer = {
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
export const superuser: Viewer = { ...ann, superuser: true };
/** The principal of the books that `ann` may read. */
const OWN = `user:${uuid(10)}`;

/** Creates authors and books in two tenants. Their tables have no row-level security: only statements restrict rows. */
export async function createShelves(databaseUrl: string): Promise<void> {
  await runSql(databaseUrl, SHELVES);
}

const COMMON_COLUMNS = `
  id uuid primary key,
  tenant_id uuid not null,
  version int not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null default now()`;

const SHELVES = `
  create table dws.shelf_author (
    ${COMMON_COLUMNS},
    name text not null,
    slug text not null,
    secret text not null
  );
  create table dws.shelf_book (
    ${COMMON_COLUMNS},
    title text not null,
    owner_id text not null,
    data jsonb not null,
    pages bigint not null,
    author_id uuid
  );
  grant select on dws.shelf_author, dws.shelf_book to dws_app;

  insert into dws.shelf_author (id, tenant_id, created_at, name, slug, secret) values
    ('${uuid(20)}', '${HERE}', '2026-01-02T03:04:05.678901+02', 'Ada', 'ada', 'x'),
    ('${uuid(21)}', '${HERE}', now(), 'Bob', 'bob', 'x'),
    ('${uuid(22)}', '${THERE}', now(), 'Cyd', 'cyd', 'x');

  insert into dws.shelf_book (id, tenant_id, created_at, title, owner_id, data, pages, author_id) values
    ('${uuid(30)}', '${HERE}', '2026-01-02T03:04:05Z', 'Alpha', '${OWN}', '{"a": [1]}', 10, '${uuid(20)}'),
    ('${uuid(31)}', '${HERE}', now(), 'beta 50%', '${OWN}', '{}', 20, '${uuid(20)}'),
    ('${uuid(32)}', '${HERE}', now(), 'Gamma', '${OWN}', '{}', 30, null),
    ('${uuid(33)}', '${HERE}', now(), 'Private', 'user:${uuid(99)}', '{}', 40, '${uuid(20)}'),
    ('${uuid(34)}', '${HERE}', now(), 'Stray', '${OWN}', '{}', 50, '${uuid(22)}'),
    ('${uuid(35)}', '${THERE}', now(), 'Foreign', '${OWN}', '{}', 60, '${uuid(20)}')`;

const models = new Map<EntityType, Model>();

export const modelFor = (type: EntityType): Model => models.get(type)!;

/** Creates the models of authors and books. */
export async function createShelfModels(databaseUrl: string): Promise<void> {
  const orm = await MikroORM.init({
    entities: [Author, Book],
    metadataProvider: ReflectMetadataProvider,
    clientUrl: databaseUrl,
  } as Options);
  const metadata = orm.getMetadata();
  const relations = {
    books: toMany(() => modelFor(Book), 'author_id', 'id'),
    bookPage: toMany(() => modelFor(Book), 'author_id', '-title'),
  };
  models.set(Author, createModel(metadata.get(Author), { relations }));
  const bookOptions: ModelOptions = {
    relations: { author: toOne(() => modelFor(Author), 'author_id') },
    searchedFields: ['title'],
    sortable: ['title', 'pages'],
    defaultSort: 'title',
    accessFilter: ({ superuser: readsAll, principals }) =>
      readsAll ? null : { sql: 'owner_id = any(?)', params: [principals] },
  };
  models.set(Book, createModel(metadata.get(Book), bookOptions));
  await orm.close(true);
}

export const createShelfSchema = (): Promise<GraphQLSchema> =>
  buildSchema({ resolvers: [BookResolver, AuthorResolver], validate: false });
