import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, Field, FieldResolver, ID, Info, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { AppDeployment, AppRelease } from '../../entities/app-release.ts';
import { App } from '../../entities/app.ts';
import { Operation } from '../../entities/operation.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import { deploy } from '../../src/services/app/app-deploy.ts';
import { checkMayWrite } from '../../src/services/app/app-part.ts';
import { rollBack } from '../../src/services/app/app-release.ts';
import { OperationArgs, toPayload } from '../operation/operation-arguments.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs } from '../support/page.ts';

@ObjectType({ description: 'A deployment of an app: its operation and, if the call waited, its result.' })
class AppDeploymentPayload {
  @Field(() => Operation, { description: 'Status and progress.' })
  operation!: Operation;

  @Field(() => AppDeployment, { nullable: true, description: 'Result; null if the call did not wait.' })
  result!: AppDeployment | null;
}

@Resolver(() => AppDeployment)
export class AppDeploymentResolver {
  @FieldResolver(() => AppRelease, {
    nullable: true,
    description: 'The new release; null if it has been deleted since.',
  })
  release(@Ctx() ctx: Context, @Root() { releaseId }: AppDeployment, @Info() info: GraphQLResolveInfo) {
    return ctx.read.find(AppRelease, releaseId, info);
  }
}

@Resolver(() => App)
export class AppReleaseResolver {
  @Requires('id', 'ownerId')
  @FieldResolver(() => [AppRelease], { description: 'The last 10 releases, newest first. Requires `app:write`.' })
  async releases(
    @Ctx() ctx: Context,
    @Root() app: Pick<App, 'id' | 'ownerId'>,
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    await checkMayWrite(ctx, app);
    return ctx.read.children(App, 'releases', app, info, page);
  }

  @Can('app:write')
  @Mutation(() => AppDeploymentPayload, {
    description:
      'Deploys an app: checks its modules in `server`, `webhooks` and `lib`, runs its migrations, and switches to a new ' +
      'release in one step. Mistakes in the code are `BAD_USER_INPUT`, all of them with their places in `validation`; ' +
      'the release before stays.',
  })
  async deployApp(
    @Ctx() ctx: Context,
    @Key('app') id: string,
    @Args(() => OperationArgs) { wait, progress }: OperationArgs,
  ) {
    return toPayload(await deploy(ctx, id, { progress: progress ?? null }, wait));
  }

  @Can('app:write')
  @Mutation(() => AppRelease, {
    description: 'Switches an app to one of its releases. Only its code changes, not its files and its schema.',
  })
  async rollbackApp(
    @Ctx() ctx: Context,
    @Key('app') id: string,
    @Arg('releaseId', () => ID, { description: 'Id of the release.' }) releaseId: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(AppRelease, await rollBack(ctx, id, releaseId), info);
  }
}
