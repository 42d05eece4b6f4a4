import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, Field, FieldResolver, Info, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { AgentRun, AgentStep } from '../../entities/agent-run.ts';
import { Operation } from '../../entities/operation.ts';
import type { Context } from '../../src/core/context.ts';
import { levelAllows } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import { Json } from '../../src/core/scalars.ts';
import { run } from '../../src/services/agent/agent-run-start.ts';
import * as runs from '../../src/services/agent/agent-run.ts';
import type { OperationRecord } from '../../src/services/operation/operation-record.ts';
import { accessLevel } from '../../src/services/resource/access-level.ts';
import { OperationArgs } from '../operation/operation-arguments.ts';
import { Id } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

@ObjectType({ description: 'A run of an agent: its operation and, if the call waited, the run.' })
export class AgentRunPayload {
  @Field(() => Operation, { description: 'Status and progress.' })
  operation!: Operation;
}

@Resolver(() => AgentRunPayload)
export class AgentRunPayloadResolver {
  @FieldResolver(() => AgentRun, { nullable: true, description: 'The run; null until the operation has ended.' })
  result(@Ctx() ctx: Context, @Root() { operation }: { operation: OperationRecord }, @Info() info: GraphQLResolveInfo) {
    const result = operation.result as { agentRunId: string } | null;
    return result ? ctx.read.readAfterWrite(AgentRun, result.agentRunId, info) : null;
  }
}

/** Columns that decide whether the viewer may run the agent of a run, and so see the data that it read and wrote. */
const ACCESS = ['agent.assistant.id', 'agent.assistant.ownerId'] as const;
interface RunOfAgent {
  agent: { assistant: { id: string; ownerId: string } };
}

const maySeeAll = async (ctx: Context, { agent }: RunOfAgent): Promise<boolean> =>
  levelAllows(await accessLevel(ctx, agent.assistant), 'agent:run');

const HIDDEN = 'for callers without the permission `agent:run`.';

@Resolver(() => AgentRun)
export class AgentRunResolver {
  @Can('agent:run')
  @Mutation(() => AgentRunPayload, {
    description:
      'Runs an agent now with the rights of its owner, even if the agent is disabled. A run that fails is a result, too. ' +
      'Fails with `CONFLICT` while its owner has not accepted it, with `RATE_LIMITED` after 60 runs in an hour, and with ' +
      '`CREDITS_SPENT` if its usage profile does not leave enough credits.',
  })
  async runAgent(
    @Ctx() ctx: Context,
    @Id('agent') id: string,
    @Args(() => OperationArgs) { wait, progress }: OperationArgs,
    @Arg('payload', () => Json, { nullable: true, description: 'Data for the model, at most 64 KiB as JSON.' })
    payload?: unknown,
  ) {
    return { operation: await run(ctx, id, payload, progress, wait) };
  }

  @Can('agent:run')
  @Mutation(() => AgentRun, {
    description:
      'Cancels a run of an agent, including runs of other users and of events. Fails with `CONFLICT` if it has ended.',
  })
  async cancelAgentRun(
    @Ctx() ctx: Context,
    @Id('agent', 'agentId') agentId: string,
    @Id('run', 'runId') runId: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(AgentRun, await runs.cancel(ctx, agentId, runId), info);
  }

  @Requires('steps', ...ACCESS)
  @FieldResolver(() => [AgentStep], { description: `Steps that have ended, in their order. Empty ${HIDDEN}` })
  async steps(@Ctx() ctx: Context, @Root() { steps, ...run }: Pick<AgentRun, 'steps'> & RunOfAgent) {
    return (await maySeeAll(ctx, run)) ? steps : [];
  }

  @Requires('notes', ...ACCESS)
  @FieldResolver(() => [String], {
    description: `Tools that were left out, incomplete responses of the model, and whether tokens are estimated. Empty ${HIDDEN}`,
  })
  async notes(@Ctx() ctx: Context, @Root() { notes, ...run }: Pick<AgentRun, 'notes'> & RunOfAgent) {
    return (await maySeeAll(ctx, run)) ? notes : [];
  }

  @Requires('payload', ...ACCESS)
  @FieldResolver(() => Json, { nullable: true, description: `Data for the model. Null ${HIDDEN}` })
  async payload(@Ctx() ctx: Context, @Root() { payload, ...run }: Pick<AgentRun, 'payload'> & RunOfAgent) {
    return (await maySeeAll(ctx, run)) ? payload : null;
  }

  @Requires('output', ...ACCESS)
  @FieldResolver(() => String, {
    nullable: true,
    description: `Last text of the model. Null without success, and ${HIDDEN}`,
  })
  async output(@Ctx() ctx: Context, @Root() { output, ...run }: Pick<AgentRun, 'output'> & RunOfAgent) {
    return output && (await maySeeAll(ctx, run)) ? output : null;
  }

  @Requires('error', ...ACCESS)
  @FieldResolver(() => String, {
    nullable: true,
    description: `Why the run failed or was cancelled. Null for a success, before the end, and ${HIDDEN}`,
  })
  async error(@Ctx() ctx: Context, @Root() { error, ...run }: Pick<AgentRun, 'error'> & RunOfAgent) {
    return error && (await maySeeAll(ctx, run)) ? error : null;
  }
}
