import type { GraphQLResolveInfo } from 'graphql';
import { Ctx, Field, FieldResolver, ID, Info, ObjectType, Resolver, Root } from 'type-graphql';
import { Agent } from '../../entities/agent.ts';
import { AppEvent } from '../../entities/app-event.ts';
import { App } from '../../entities/app.ts';
import { Assistant } from '../../entities/assistant.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import { UuidField } from '../../src/core/uuid-field.ts';
import type { BoundApp } from '../../src/services/agent/event-bindings.ts';
import { loadPrincipal, Principal } from '../resource/principal.ts';
import { loadById } from '../support/relation-fields.ts';

@ObjectType({ description: 'An app whose events start agents.' })
class EventApp {
  @UuidField()
  @Field(() => ID, { description: 'Id of the app.' })
  appId!: string;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether its events start no runs, because it has another owner whom the owner of the agent has not accepted, or it was ' +
      'deleted. Null for an assistant, because each of its agents accepts apps for itself.',
  })
  suspended!: boolean | null;
}

const APP = 'The app; null if it was deleted, and for callers who may not read it.';

@Resolver(() => AppEvent)
export class AppEventResolver {
  @FieldResolver(() => App, { nullable: true, description: APP })
  app(@Ctx() ctx: Context, @Root() { appId }: AppEvent, @Info() info: GraphQLResolveInfo) {
    return loadById(ctx, App, appId, info);
  }
}

@Resolver(() => EventApp)
export class EventAppResolver {
  @FieldResolver(() => App, { nullable: true, description: APP })
  app(@Ctx() ctx: Context, @Root() { appId }: BoundApp, @Info() info: GraphQLResolveInfo) {
    return loadById(ctx, App, appId, info);
  }

  @FieldResolver(() => Principal, { nullable: true, description: 'Owner of the app; null if the app was deleted.' })
  owner(@Ctx() ctx: Context, @Root() { ownerId }: BoundApp): Promise<Principal> | null {
    return ownerId === null ? null : loadPrincipal(ctx, ownerId);
  }
}

@Resolver(() => Agent)
export class AgentEventAppsResolver {
  @Requires('boundApps')
  @FieldResolver(() => [EventApp], {
    description: 'Apps of its events or, if it has no events of its own, of the events of its assistant.',
  })
  eventApps(@Root() { boundApps }: { boundApps: BoundApp[] }): BoundApp[] {
    return boundApps;
  }
}

@Resolver(() => Assistant)
export class AssistantEventAppsResolver {
  @Requires('boundApps')
  @FieldResolver(() => [EventApp], { description: 'Apps whose events start its agents.' })
  eventApps(@Root() { boundApps }: { boundApps: BoundApp[] }): BoundApp[] {
    return boundApps;
  }
}
