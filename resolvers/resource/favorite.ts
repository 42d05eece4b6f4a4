import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, Info, Query, Resolver } from 'type-graphql';
import { FavoriteResource } from '../../entities/favorite.ts';
import type { Context } from '../../src/core/context.ts';
import { Can } from '../support/guard.ts';
import { PageArgs, pageOf } from '../support/page.ts';

const FavoriteResourcePage = pageOf(FavoriteResource, 'FavoriteResource');

@Resolver()
export class FavoriteResolver {
  @Can('authenticated')
  @Query(() => FavoriteResourcePage, {
    description:
      'Lists the favourites of the caller, of every kind, newest first, without resources that the caller may no ' +
      'longer read. `q` searches names.',
  })
  favorites(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(FavoriteResource, page, info);
  }
}
