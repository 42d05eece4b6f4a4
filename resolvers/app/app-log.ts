import type { GraphQLResolveInfo } from 'graphql';
import { Args, ArgsType, Ctx, Field, FieldResolver, Info, Resolver, Root } from 'type-graphql';
import { AppLog, AppLogLevelEnum, type AppLogLevel } from '../../entities/app-log.ts';
import { App } from '../../entities/app.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import { checkMayWrite } from '../../src/services/app/app-part.ts';
import { ChildPageArgs, pageOf } from '../support/page.ts';

const AppLogPage = pageOf(AppLog, 'AppLog');

/** Filter and page of the log of an app. */
@ArgsType()
class AppLogArgs extends ChildPageArgs {
  @Field(() => AppLogLevelEnum, { nullable: true, description: 'Only lines of this level.' })
  level?: AppLogLevel;

  @Field(() => String, { nullable: true, description: 'Only lines of this request.' })
  requestId?: string;
}

@Resolver(() => App)
export class AppLogResolver {
  @Requires('id', 'ownerId')
  @FieldResolver(() => AppLogPage, {
    description: 'Log lines of its handlers and their failures, newest first. Requires `app:write`.',
  })
  async logs(
    @Ctx() ctx: Context,
    @Root() app: Pick<App, 'id' | 'ownerId'>,
    @Args(() => AppLogArgs) page: AppLogArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    await checkMayWrite(ctx, app);
    return ctx.read.childPage(App, 'logs', app, info, page);
  }
}
