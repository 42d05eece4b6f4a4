import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import type { PublicContext } from '../../src/core/context.ts';
import * as passwordResets from '../../src/services/identity/password-reset.ts';
import { Public } from '../support/guard.ts';

@Resolver()
export class PasswordResetResolver {
  @Public()
  @Mutation(() => Boolean, {
    description:
      'Mails a link for a new password, `{PUBLIC_URL}/password-reset/{token}`, to an enabled user of the domain `local`; it works once, within an hour. The mail to a user without an address stays in the outbox, addressed to the username and marked failed, for an operator to hand over. The answer is always true and takes the same time, whoever is named. A user gets ten links an hour at most.',
  })
  async requestPasswordReset(
    @Ctx() ctx: PublicContext,
    @Arg('username', { description: 'Name of the user.' }) username: string,
    @Arg('tenant', () => String, { nullable: true, description: 'Slug of the tenant. Default `default`.' }) tenant?:
      | string
      | null,
  ) {
    await passwordResets.request(ctx, username, tenant);
    return true;
  }

  @Public()
  @Mutation(() => Boolean, {
    description:
      'Sets a new password by a mailed link, unlocks the user and ends all their sessions and other links; API tokens stay. A link that was used, has expired or never existed is `GONE`; a bad password does not use it up. A link ends early when its user is disabled or gets another password, address or domain.',
  })
  async resetPassword(
    @Ctx() ctx: PublicContext,
    @Arg('token', { description: 'The end of the link.' }) token: string,
    @Arg('password', { description: 'At least 12 characters, not the username.' }) password: string,
  ) {
    await passwordResets.reset(ctx, token, password);
    return true;
  }
}
