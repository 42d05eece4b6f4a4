import { Arg, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import { Share } from '../../entities/share.ts';
import { Requires } from '../../src/core/read/model.ts';
import { printPrincipal } from '../../src/core/viewer.ts';
import { Principal, principalColumns, principalOf, type PrincipalColumns } from './principal.ts';

/** Declares the argument for the recipient of a share. */
export const PrincipalId = () =>
  Arg('principalId', () => ID, { description: 'Recipient: `user:<id>`, `team:<id>`, a user id or a username.' });

@Resolver(() => Share)
export class ShareResolver {
  @Requires('principal')
  @FieldResolver(() => ID, { description: 'Recipient: user id or `team:<id>`.' })
  principalId(@Root() { principal }: { principal: string }): string {
    return printPrincipal(principal);
  }

  @Requires('principal', ...principalColumns('user', 'team'))
  @FieldResolver(() => Principal, { description: 'Recipient, with the name to display.' })
  principal(@Root() share: PrincipalColumns & { principal: string }): Principal {
    return principalOf(share.principal, share);
  }
}
