import { Ctx, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import type { Context } from '../../src/core/context.ts';
import { printPrincipal } from '../../src/core/viewer.ts';
import { loadPrincipal, Principal } from '../resource/principal.ts';
import { BudgetEntity } from './credit-pool-types.ts';

@Resolver(() => BudgetEntity)
export class BudgetEntityResolver {
  @FieldResolver(() => ID, { description: 'Owner: user id or `team:<id>`.' })
  ownerId(@Root() { ownerId }: { ownerId: string }): string {
    return printPrincipal(ownerId);
  }

  @FieldResolver(() => Principal, { description: 'Owner, with the name to display.' })
  owner(@Ctx() ctx: Context, @Root() { ownerId }: { ownerId: string }): Promise<Principal> {
    return loadPrincipal(ctx, ownerId);
  }
}
