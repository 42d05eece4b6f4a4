import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import type { PublicContext } from '../../src/core/context.ts';
import { PASSWORD_RULE, Rule } from '../../src/core/input-rules.ts';
import * as passwordResets from '../../src/services/identity/password-reset.ts';
import { Public } from '../support/guard.ts';

@Resolver()
export class PasswordResetResolver {
  @Public()
  @Mutation(() => Boolean, {
    description:
      'Mails a link for a new password, `{PUBLIC_URL}/password-reset/{token}`, to an enabled user of the domain ' +
      '`local`. The link works once, within an hour. If the user has no e-mail address, the mail stays in the outbox ' +
      'with status `FAILED`, for an operator to hand over. Takes the same time for any name, so that it ' +
      'does not reveal which users exist. A user gets at most ten links an hour. Rate limited like logins.',
  })
  async requestPasswordReset(
    @Ctx() ctx: PublicContext,
    @Arg('username', { description: 'Username.' }) username: string,
    @Arg('tenant', () => String, { nullable: true, description: 'Slug of the tenant. Default: `default`.' }) tenant?:
      | string
      | null,
  ) {
    await passwordResets.request(ctx, username, tenant);
    return true;
  }

  @Public()
  @Mutation(() => Boolean, {
    description:
      'Sets a new password with a mailed link, unlocks the user and ends all their sessions and other links. ' +
      'API tokens stay valid. Fails with `GONE` if the link was used, has expired or never existed. A link also ends ' +
      'when its user is disabled or gets another password, e-mail address or domain. A refused password does not use ' +
      'up the link.',
  })
  async resetPassword(
    @Ctx() ctx: PublicContext,
    @Arg('token', { description: 'Token: the last segment of the link.' }) token: string,
    @Arg('password', { description: 'New password of 12 to 1,024 characters that is not the username.' })
    @Rule(PASSWORD_RULE)
    password: string,
  ) {
    await passwordResets.reset(ctx, token, password);
    return true;
  }
}
