import { ArgsType, Field, ID, Int, ObjectType, type ClassType } from 'type-graphql';
import type { Context } from '../../src/core/context.ts';
import { limitRule, Rule, SORT_RULE, START_RULE } from '../../src/core/input-rules.ts';
import { DEFAULT_LIMIT } from '../../src/core/read/list-arguments.ts';
import { MAX_CHILDREN } from '../../src/core/read/model.ts';
import { DateTime } from '../../src/core/scalars.ts';

/** Maximum number of rows of a list that is not paged (docs/contract/apis.md#lists). */
export const MAX_FLAT_LIST = 10_000;

/** Declares the argument `limit` of a page. */
export const PageLimit = (): PropertyDecorator => (target, key) => {
  Rule(limitRule(DEFAULT_LIMIT))(target, key);
  Field(() => Int, { nullable: true, description: 'Maximum number of items, 1 to 1000. Default: 30.' })(target, key);
};

/** Declares the argument `start` of a page. */
export const PageStart = (): PropertyDecorator => (target, key) => {
  Rule(START_RULE)(target, key);
  Field(() => Int, { nullable: true, description: 'Number of items to skip. Default: 0.' })(target, key);
};

/** The arguments of a page (docs/contract/apis.md#lists). */
@ArgsType()
export class PageArgs {
  @Field(() => String, { nullable: true, description: 'Text that one of the text fields must contain, ignoring case.' })
  q?: string;

  @Rule(SORT_RULE)
  @Field(() => String, {
    nullable: true,
    description:
      'Fields to sort by, separated by commas, e.g. `name,-createdAt`; `-` means descending. Ties are broken by id.',
  })
  sort?: string;

  @PageLimit()
  limit?: number;

  @PageStart()
  start?: number;
}

/** The part of a list of children to return. */
@ArgsType()
export class ChildPageArgs {
  @Rule(limitRule(MAX_CHILDREN))
  @Field(() => Int, {
    nullable: true,
    description: 'Maximum number of items, 1 to 1000. Default: all items, at most 1000.',
  })
  limit?: number;

  @PageStart()
  start?: number;
}

/** The arguments of a page of resources with owners. */
@ArgsType()
export class OwnedPageArgs extends PageArgs {
  @Field(() => ID, {
    nullable: true,
    description: 'Owner: `user:<id>`, `team:<id>` or the id of a user.',
  })
  ownerId?: string;

  @Field(() => ID, { nullable: true, description: 'Id of the folder. Subfolders are not included.' })
  folderId?: string;

  @Field(() => ID, { nullable: true, description: 'Id or name of a tag.' })
  tag?: string;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the resource is a favourite of the caller.',
  })
  favorite?: boolean;

  @Field(() => DateTime, { nullable: true, description: 'Time at or after which the resource was last changed.' })
  updatedSince?: Date;
}

/** Declares the page type of an object type, e.g. `UserPage`. */
export function pageOf<T extends object>(item: ClassType<T>, name: string): ClassType<PageShape<T>> {
  @ObjectType(`${name}Page`, { description: `A page of ${name} records.` })
  class PageClass implements PageShape<T> {
    @Field(() => [item], { description: 'Records of this page, in order.' })
    items!: T[];

    @Field(() => Int, { description: 'Number of records before this page.' })
    start!: number;

    @Field(() => Int, { description: 'Number of records in this page.' })
    count!: number;

    @Field(() => Int, { description: 'Number of records on all pages. It is counted only if it is selected.' })
    total!: number;

    @Field(() => Boolean, { description: 'Whether there are records after this page.' })
    hasNextPage!: boolean;
  }
  return PageClass;
}

export interface PageShape<T> {
  items: T[];
  start: number;
  count: number;
  total: number;
  hasNextPage: boolean;
}

/** Returns the part of a list in memory that the arguments select. */
export function partOf<T>({ read }: Pick<Context, 'read'>, list: readonly T[], page: ChildPageArgs): readonly T[] {
  if (read.counted) read.counted.total = list.length;
  const start = page.start ?? 0;
  return list.slice(start, start + (page.limit ?? MAX_CHILDREN));
}
