import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import { Mail } from '../../entities/mail.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import { readableText, type Recipient } from '../../src/services/resource/mail.ts';
import { Can } from '../support/guard.ts';
import { PageArgs, pageOf } from '../support/page.ts';

const MailPage = pageOf(Mail, 'Mail');

/** What a row of the read path has for a mail. */
interface MailRow extends Recipient {
  sealedText: string;
  sealedHtml: string | null;
}

const MASKED =
  'Links that set a password are masked where they would give the reader more than they have: those of other superusers, those of users who are gone, one’s own unless one has a session, and all of them for a token without the scope `write`. Null when `APP_SECRET` no longer holds the key it was sealed with.';

@Resolver(() => Mail)
export class MailResolver {
  @Can('tenant:superuser')
  @Query(() => MailPage, {
    description:
      'The mails of the tenant, the latest first. `q` looks at addresses and subjects. Mails to users without an address are here too, for an operator to hand over.',
  })
  outbox(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(Mail, page, info);
  }

  @Requires('sealedText', 'user.id', 'user.superuser')
  @FieldResolver(() => String, { nullable: true, description: `The words of the mail. ${MASKED}` })
  text(@Ctx() ctx: Context, @Root() mail: MailRow) {
    return readableText(ctx.platform, ctx.viewer, mail, mail.sealedText);
  }

  @Requires('sealedHtml', 'user.id', 'user.superuser')
  @FieldResolver(() => String, { nullable: true, description: `The same as HTML, where the mail has that. ${MASKED}` })
  html(@Ctx() ctx: Context, @Root() mail: MailRow) {
    return mail.sealedHtml === null ? null : readableText(ctx.platform, ctx.viewer, mail, mail.sealedHtml);
  }
}
