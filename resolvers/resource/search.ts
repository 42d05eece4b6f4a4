import { Arg, Ctx, FieldResolver, ID, Int, Query, Resolver, Root } from 'type-graphql';
import { SearchHit, SearchKindEnum } from '../../entities/search-hit.ts';
import type { Context } from '../../src/core/context.ts';
import { limitRule, Rule, START_RULE } from '../../src/core/input-rules.ts';
import { DEFAULT_LIMIT } from '../../src/core/read/list-arguments.ts';
import { printPrincipal } from '../../src/core/viewer.ts';
import { search } from '../../src/services/resource/search.ts';
import { Can } from '../support/guard.ts';
import { pageOf } from '../support/page.ts';
import { loadPrincipal, Principal } from './principal.ts';

const SearchPage = pageOf(SearchHit, 'Search');

@Resolver(() => SearchHit)
export class SearchResolver {
  @Can('authenticated')
  @Query(() => SearchPage, {
    description:
      'Searches all resources that the caller may read. A result contains all words of `q` in its name, slug, tags ' +
      'or description. Words may be incomplete at the end; a word of a name may differ by one typing error. Case and ' +
      'accents are ignored. Results are sorted by descending score.',
  })
  search(
    @Ctx() ctx: Context,
    @Arg('q', () => String, { description: 'At least one word, at most 500 characters.' })
    @Rule({ minLength: 1, maxLength: 500 })
    q: string,
    @Arg('kinds', () => [SearchKindEnum], { nullable: true, description: 'Returns only these kinds. Default: all.' })
    kinds?: string[],
    @Arg('limit', () => Int, { nullable: true, description: 'Maximum number of items, 1 to 1000. Default: 30.' })
    @Rule(limitRule(DEFAULT_LIMIT))
    limit?: number,
    @Arg('start', () => Int, { nullable: true, description: 'Number of items to skip. Default: 0.' })
    @Rule(START_RULE)
    start?: number,
  ) {
    return search(ctx, { q, kinds, limit, start });
  }

  @FieldResolver(() => ID, {
    nullable: true,
    description: 'Owner: user id or `team:<id>`; null for kinds without owners.',
  })
  ownerId(@Root() { ownerId }: { ownerId: string | null }): string | null {
    return ownerId && printPrincipal(ownerId);
  }

  @FieldResolver(() => Principal, {
    nullable: true,
    description: 'Owner, with the name to display; null for kinds without owners.',
  })
  owner(@Ctx() ctx: Context, @Root() { ownerId }: { ownerId: string | null }): Promise<Principal> | null {
    return ownerId ? loadPrincipal(ctx, ownerId) : null;
  }
}
