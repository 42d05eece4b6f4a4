import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  Float,
  ID,
  Info,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
  registerEnumType,
} from 'type-graphql';
import { Node } from '../../entities/node.ts';
import type { Context } from '../../src/core/context.ts';
import { DateTime } from '../../src/core/scalars.ts';
import { printPrincipal } from '../../src/core/viewer.ts';
import { modelFor } from '../../src/services/resource/model-registry.ts';
import { search, SEARCHABLE_TYPES } from '../../src/services/resource/search.ts';
import { Can } from '../support/guard.ts';
import { pageOf } from '../support/page.ts';

/** The kinds that a search looks among. */
export const SearchKindEnum = Object.fromEntries(
  Object.keys(SEARCHABLE_TYPES).map((kind) => [kind.toUpperCase(), kind]),
);
registerEnumType(SearchKindEnum, {
  name: 'SearchKind',
  description: 'What a search can find.',
  valuesConfig: Object.fromEntries(
    Object.values(SearchKindEnum).map((kind) => [
      kind.toUpperCase(),
      { description: `A ${kind}.`.replace('A app', 'An app') },
    ]),
  ),
});

/** Something that a search found. */
@ObjectType({ description: 'Something that a search found.' })
export class SearchHit {
  @Field(() => SearchKindEnum, { description: 'What it is.' })
  kind!: string;

  @Field(() => ID, { description: 'Its id.' })
  id!: string;

  @Field(() => String, { description: 'Display name.' })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Short name; of a user the username, null for kinds without one.',
  })
  slug!: string | null;

  @Field(() => String, { nullable: true, description: 'What it is for.' })
  description!: string | null;

  @Field(() => Float, {
    description:
      'How well it fits: 1 its name is `q`, 0.8 its name begins so, 0.6 all words are in its name, 0.4 in its name, slug, tags and description, 0.2 only with typing errors.',
  })
  score!: number;

  @Field(() => DateTime, { description: 'When it last changed.' })
  updatedAt!: string;
}

const SearchPage = pageOf(SearchHit, 'Search');

@Resolver(() => SearchHit)
export class SearchResolver {
  @Can('authenticated')
  @Query(() => SearchPage, {
    description:
      'All that the caller may read and that holds all words of `q` in name, slug, tags or description, the best first. Words may be only begun; in names one typing error a word is forgiven. Case and accents do not matter.',
  })
  search(
    @Ctx() ctx: Context,
    @Arg('q', () => String, { description: 'Words, at least one, at most 500 characters.' }) q: string,
    @Arg('kinds', () => [SearchKindEnum], { nullable: true, description: 'Only these kinds.' }) kinds?: string[],
    @Arg('limit', () => Int, { nullable: true, description: 'Items wanted, 1 to 1000. Default 30.' }) limit?: number,
    @Arg('start', () => Int, { nullable: true, description: 'Items to pass over. Default 0.' }) start?: number,
  ) {
    return search(ctx, { q, kinds, limit, start });
  }

  @FieldResolver(() => ID, {
    nullable: true,
    description: 'The owner: id of a user, or `team:<id>`; null for what nobody owns.',
  })
  ownerId(@Root() { ownerId }: { ownerId: string | null }): string | null {
    return ownerId && printPrincipal(ownerId);
  }

  @FieldResolver(() => Node, { nullable: true, description: 'The resource itself; null when it vanished meanwhile.' })
  async node(@Ctx() ctx: Context, @Root() { kind, id }: SearchHit, @Info() info: GraphQLResolveInfo) {
    const type = SEARCHABLE_TYPES[kind]!;
    const [row] = await ctx.read.many(type, [id], info);
    return row && { ...row, __typename: modelFor(type).name };
  }
}
