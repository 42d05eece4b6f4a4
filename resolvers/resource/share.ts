import { Arg, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import { Share } from '../../entities/share.ts';
import { Requires } from '../../src/core/read/model.ts';
import { printPrincipal } from '../../src/core/viewer.ts';
import { Principal, principalColumns, principalOf, type PrincipalColumns } from './principal.ts';

/** The argument that names who a share is for. */
export const PrincipalId = () =>
  Arg('principalId', () => ID, { description: 'Whom it is for: `user:<id>`, `team:<id>`, a user’s id or name.' });

@Resolver(() => Share)
export class ShareResolver {
  @Requires('principal')
  @FieldResolver(() => ID, { description: 'Whom it is for: id of a user, or `team:<id>`.' })
  principalId(@Root() { principal }: { principal: string }): string {
    return printPrincipal(principal);
  }

  @Requires('principal', ...principalColumns('user', 'team'))
  @FieldResolver(() => Principal, { description: 'Whom it is for, with the name to show.' })
  principal(@Root() share: PrincipalColumns & { principal: string }): Principal {
    return principalOf(share.principal, share);
  }
}
