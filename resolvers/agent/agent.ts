import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Info,
  Mutation,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { CreateAgentInput, UpdateAgentInput } from '../../entities/agent-input.ts';
import { AgentRun } from '../../entities/agent-run.ts';
import { Agent } from '../../entities/agent.ts';
import { Assistant } from '../../entities/assistant.ts';
import { UsageProfile } from '../../entities/usage-profile.ts';
import { User } from '../../entities/user.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { abilitiesAt } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as agents from '../../src/services/agent/agent.ts';
import { accessLevel } from '../../src/services/resource/access-level.ts';
import { permissionsType } from '../resource/permissions-type.ts';
import { Id } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, PageArgs, PageLimit, pageOf, PageStart } from '../support/page.ts';
import { relationField } from '../support/relation-fields.ts';

const AgentPage = pageOf(Agent, 'Agent');
const AgentPermissions = permissionsType('agent', 'Agent');

/** Arguments of the list of agents. */
@ArgsType()
class AgentPageArgs extends PageArgs {
  @Field(() => ID, { nullable: true, description: 'Id, slug or natural id of an assistant. Returns only its agents.' })
  assistantId?: string;

  @Field(() => ID, {
    nullable: true,
    description: 'Owner: `user:<id>`, or the id or name of a user. Returns only the agents of this owner.',
  })
  ownerId?: string;
}

/** The part of the runs of an agent to return. They are large, so that not all are returned by default. */
@ArgsType()
class AgentRunPageArgs {
  @PageLimit()
  limit?: number;

  @PageStart()
  start?: number;
}

@Resolver(() => Assistant)
export class AssistantAgentsResolver {
  @FieldResolver(() => [Agent], { description: 'Its agents, by name.' })
  agents(
    @Ctx() ctx: Context,
    @Root() assistant: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(Assistant, 'agents', assistant, info, page);
  }
}

export const AgentAssistantField = relationField(Agent, 'assistant', Assistant, 'The assistant.');
export const AgentOwnerField = relationField(Agent, 'owner', User, 'The user with whose rights it runs.');

export const AgentUsageProfileField = relationField(
  Agent,
  'usageProfile',
  UsageProfile,
  'Its usage profile. Null without one, and for callers who are not superusers and lack `billing:manage` and `usage:write`.',
);

@Resolver(() => Agent)
export class AgentResolver {
  @Can('authenticated')
  @Query(() => Agent, { nullable: true, description: 'Returns an agent.' })
  agent(@Ctx() ctx: Context, @Id('agent') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Agent, id, info);
  }

  @Can('authenticated')
  @Query(() => AgentPage, { description: 'Lists the agents of the assistants that the caller may read.' })
  async agents(
    @Ctx() ctx: Context,
    @Args(() => AgentPageArgs) { assistantId, ownerId, ...page }: AgentPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    const filters = {
      ...(assistantId != null && { assistantId: (await ctx.read.one(Assistant, assistantId, ['id'])).id }),
      ...(ownerId != null && { ownerId: (await ctx.read.one(User, ownerId.replace(/^user:/, ''), ['id'])).id }),
    };
    return ctx.read.page(Agent, { ...page, ...filters }, info);
  }

  @Can('assistant:write')
  @Mutation(() => Agent, {
    description: 'Creates an agent of an assistant, which has at most 100. It runs with the rights of the caller.',
  })
  async createAgent(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new agent.' }) input: CreateAgentInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Agent, await agents.create(ctx, input), info);
  }

  @Can('agent:write')
  @Mutation(() => Agent, {
    description:
      'Updates an agent. After a change of its instructions or events by another user, its owner has to accept it.',
  })
  async updateAgent(
    @Ctx() ctx: Context,
    @Id('agent') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateAgentInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Agent, await agents.update(ctx, id, input), info);
  }

  @Can('agent:delete')
  @Mutation(() => ID, { description: 'Deletes an agent with its runs. Returns the `id` argument.' })
  async deleteAgent(@Ctx() ctx: Context, @Id('agent') id: string) {
    await agents.remove(ctx, id);
    return id;
  }

  @FieldResolver(() => [AgentRun], { description: 'Runs, latest first.' })
  runs(
    @Ctx() ctx: Context,
    @Root() agent: { id: string },
    @Args(() => AgentRunPageArgs) page: AgentRunPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(Agent, 'runs', agent, info, page);
  }

  @FieldResolver(() => AgentRun, { nullable: true, description: 'A run, by its id.' })
  async run(
    @Ctx() ctx: Context,
    @Root() { id: agentId }: { id: string },
    @Id('run', 'runId') id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    const found = await ctx.read.find(AgentRun, { id, agentId }, info);
    if (!found) throw notFound({ what: 'run of the agent', id });
    return found;
  }

  @Requires('assistantId', 'assistant.ownerId')
  @FieldResolver(() => AgentPermissions, { description: 'The permissions of the caller on its assistant.' })
  async permissions(
    @Ctx() ctx: Context,
    @Root() { assistantId, assistant }: { assistantId: string; assistant: { ownerId: string } },
  ) {
    return abilitiesAt('agent', await accessLevel(ctx, { id: assistantId, ownerId: assistant.ownerId }));
  }
}
