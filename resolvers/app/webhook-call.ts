import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, ArgsType, Ctx, Field, FieldResolver, Info, Int, Mutation, Resolver, Root } from 'type-graphql';
import { App } from '../../entities/app.ts';
import { WebhookCall } from '../../entities/webhook-call.ts';
import { AppHookToken, AppWebhooks } from '../../entities/webhook-statistic.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { invalid } from '../../src/core/input-checks.ts';
import { Requires } from '../../src/core/read/model.ts';
import { checkMayWrite } from '../../src/services/app/app-part.ts';
import { ROUTE_METHODS } from '../../src/services/app/app-route-path.ts';
import { loadHookToken, rotateHookToken } from '../../src/services/app/hook-token.ts';
import { replayWebhookCall } from '../../src/services/app/webhook-call-replay.ts';
import { summarizeWebhooks } from '../../src/services/app/webhook-overview.ts';
import { Id, Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, pageOf } from '../support/page.ts';

const WebhookCallPage = pageOf(WebhookCall, 'WebhookCall');

/** Filter and page of the calls of webhooks. */
@ArgsType()
class WebhookCallArgs extends ChildPageArgs {
  @Field(() => String, {
    nullable: true,
    description: 'Only calls with this method: `get`, `post` or `put`, in any case.',
  })
  method?: string;

  @Field(() => String, { nullable: true, description: 'Only calls of the route with this path, e.g. `/orders/:id`.' })
  route?: string;

  @Field(() => Int, { nullable: true, description: 'Only calls whose response had this HTTP status.' })
  status?: number;
}

const METHODS: readonly string[] = ROUTE_METHODS.webhooks;

/** Returns a method in lower case. Throws BAD_USER_INPUT for one that webhooks do not have. */
function readMethod(method: string | undefined): string | undefined {
  const name = method?.toLowerCase();
  if (name !== undefined && !METHODS.includes(name)) throw invalid('method', 'must be get, post or put');
  return name;
}

type AppRow = Pick<App, 'id' | 'ownerId'>;

@Resolver(() => App)
export class AppWebhooksResolver {
  @Requires('id', 'ownerId')
  @FieldResolver(() => AppWebhooks, { description: 'Webhooks and their calls by day. Requires `app:write`.' })
  async webhooks(@Ctx() ctx: Context, @Root() app: AppRow): Promise<AppWebhooks> {
    await checkMayWrite(ctx, app);
    return { ...(await summarizeWebhooks(ctx, app)), hookToken: await loadHookToken(ctx, app) };
  }

  @Requires('id', 'ownerId')
  @FieldResolver(() => WebhookCallPage, { description: 'Calls of its webhooks, newest first. Requires `app:write`.' })
  async webhookCalls(
    @Ctx() ctx: Context,
    @Root() app: AppRow,
    @Args(() => WebhookCallArgs) page: WebhookCallArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    await checkMayWrite(ctx, app);
    const args: WebhookCallArgs = { ...page, method: readMethod(page.method) };
    return ctx.read.childPage(App, 'webhookCalls', app, info, args);
  }

  @Requires('id', 'ownerId')
  @FieldResolver(() => WebhookCall, {
    nullable: true,
    description: 'A call of a webhook, by its id. Requires `app:write`. Throws `NOT_FOUND`.',
  })
  async webhookCall(
    @Ctx() ctx: Context,
    @Root() app: AppRow,
    @Id('call', 'callId') id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    await checkMayWrite(ctx, app);
    const found = await ctx.read.find(WebhookCall, { id, appId: app.id }, info);
    if (!found) throw notFound({ what: 'call of a webhook', id });
    return found;
  }
}

@Resolver(() => AppHookToken)
export class AppHookTokenResolver {
  @Can('app:write')
  @Mutation(() => AppHookToken, {
    description:
      'Replaces the hook token of an app. The replaced token stays valid for `keepOldSeconds`; an older one is not valid any ' +
      'longer.',
  })
  rotateHookToken(
    @Ctx() ctx: Context,
    @Key('app') id: string,
    @Arg('keepOldSeconds', () => Int, {
      nullable: true,
      description: 'Seconds for which the former token stays valid, 0 to 604,800. Default 0.',
    })
    keepOldSeconds?: number | null,
  ): Promise<AppHookToken> {
    return rotateHookToken(ctx, id, keepOldSeconds ?? 0);
  }
}

@Resolver(() => WebhookCall)
export class WebhookCallResolver {
  @Requires('replayable')
  @FieldResolver(() => Boolean, {
    description:
      'Whether it can be replayed. Requests are kept if their body has at most 256 KiB, up to 100 MB an app.',
  })
  replayable(@Root() { replayable }: { replayable: boolean }): boolean {
    return replayable;
  }

  @Can('app:write')
  @Mutation(() => WebhookCall, {
    description:
      'Repeats a call of a webhook: the active release handles the same request, without a check of its signature or ' +
      'its idempotency key. The handler acts as the owner of the app, with all effects of a call. Waits for it, and ' +
      'returns the new call. Does not count for `RATE_LIMIT_WEBHOOK`. Throws `CONFLICT` if the app is not deployed or ' +
      'the request is not kept.',
  })
  async replayWebhookCall(
    @Ctx() ctx: Context,
    @Key('app', 'appId') appId: string,
    @Id('call', 'callId') callId: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(WebhookCall, await replayWebhookCall(ctx, appId, callId), info);
  }
}
