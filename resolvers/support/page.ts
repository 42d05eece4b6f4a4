import { ArgsType, Field, ID, Int, ObjectType, type ClassType } from 'type-graphql';

/** Maximum number of rows of a list that is not paged (docs/contract.md#lists). */
export const MAX_FLAT_LIST = 10_000;

/** The arguments of a page (docs/contract.md#lists). */
@ArgsType()
export class PageArgs {
  @Field(() => String, { nullable: true, description: 'Text that one of the text fields must contain, ignoring case.' })
  q?: string;

  @Field(() => String, {
    nullable: true,
    description:
      'Fields to sort by, separated by commas, e.g. `name,-createdAt`; `-` means descending. Ties are broken by id.',
  })
  sort?: string;

  @Field(() => Int, { nullable: true, description: 'Number of items to return, 1 to 1000. Default: 30.' })
  limit?: number;

  @Field(() => Int, { nullable: true, description: 'Number of items to skip. Default: 0.' })
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
  }
  return PageClass;
}

export interface PageShape<T> {
  items: T[];
  start: number;
  count: number;
  total: number;
}
