import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import { Mail } from '../../entities/mail.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import { readMailText, type MailRecipient } from '../../src/services/resource/mail.ts';
import { Can } from '../support/guard.ts';
import { PageArgs, pageOf } from '../support/page.ts';

const MailPage = pageOf(Mail, 'Mail');

/** Columns of a mail row that computed fields require. */
interface MailRow extends MailRecipient {
  sealedText: string;
  sealedHtml: string | null;
}

const MASKED =
  'Password links are masked in mails to other superusers and to deleted users, in mails to the caller unless they ' +
  'have a session, and in all mails for a token without the scope `write`. Null if the encryption key is no longer ' +
  'in `APP_SECRET`.';

@Resolver(() => Mail)
export class MailResolver {
  @Can('tenant:superuser')
  @Query(() => MailPage, {
    description:
      'Lists the mails of the tenant, latest first. `q` searches addresses and subjects. Mails to users without an ' +
      'e-mail address are included, for an operator to hand over.',
  })
  outbox(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(Mail, page, info);
  }

  @Requires('sealedText', 'user.id', 'user.superuser')
  @FieldResolver(() => String, { nullable: true, description: `Plain text. ${MASKED}` })
  text(@Ctx() ctx: Context, @Root() mail: MailRow) {
    return readMailText(ctx.platform, ctx.viewer, mail, mail.sealedText);
  }

  @Requires('sealedHtml', 'user.id', 'user.superuser')
  @FieldResolver(() => String, { nullable: true, description: `HTML version, if there is one. ${MASKED}` })
  html(@Ctx() ctx: Context, @Root() mail: MailRow) {
    return mail.sealedHtml === null ? null : readMailText(ctx.platform, ctx.viewer, mail, mail.sealedHtml);
  }
}
