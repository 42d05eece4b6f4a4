import { ArgsType, Field, ID, Int, ObjectType, type ClassType } from 'type-graphql';

/** Rows at most in the specification's flat lists (contract 4). */
export const MAX_FLAT_LIST = 10_000;

/** Which part of a list is wanted (contract 4, "Collection"). */
@ArgsType()
export class PageArgs {
  @Field(() => String, { nullable: true, description: 'Only those whose text fields hold this, ignoring case.' })
  q?: string;

  @Field(() => String, {
    nullable: true,
    description: 'Fields to sort by, separated by commas; `-` before one descends. Ties are broken by id.',
  })
  sort?: string;

  @Field(() => Int, { nullable: true, description: 'Items wanted, 1 to 1000. Default 30.' })
  limit?: number;

  @Field(() => Int, { nullable: true, description: 'Items to pass over. Default 0.' })
  start?: number;
}

/** The same for kinds with owners. */
@ArgsType()
export class OwnedPageArgs extends PageArgs {
  @Field(() => ID, {
    nullable: true,
    description: 'Only what this principal owns: `user:<id>`, `team:<id>` or a user’s id.',
  })
  ownerId?: string;

  @Field(() => ID, { nullable: true, description: 'Only what lies in this folder.' })
  folderId?: string;

  @Field(() => ID, { nullable: true, description: 'Only what has this tag: its id or name.' })
  tag?: string;

  @Field(() => Boolean, {
    nullable: true,
    description: 'true: only the caller’s favourites; false: only what is none.',
  })
  favorite?: boolean;
}

/** Declares the page type of a kind, e.g. `UserPage`. */
export function pageOf<T extends object>(item: ClassType<T>, name: string): ClassType<PageShape<T>> {
  @ObjectType(`${name}Page`, { description: `A part of a list of ${name} records.` })
  class PageClass implements PageShape<T> {
    @Field(() => [item], { description: 'The records of this part, in order.' })
    items!: T[];

    @Field(() => Int, { description: 'Records passed over before this part.' })
    start!: number;

    @Field(() => Int, { description: 'Records in this part.' })
    count!: number;

    @Field(() => Int, { description: 'Records altogether; counted only when asked for.' })
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
