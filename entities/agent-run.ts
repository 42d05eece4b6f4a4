import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { OPERATION_STATUSES, type OperationStatus } from '../src/core/operations.ts';
import { DateTime } from '../src/core/scalars.ts';
import { WholeNumber } from '../src/core/whole-number.ts';
import { Node } from './node.ts';
import { OperationStatusEnum } from './operation.ts';
import { TenantRow } from './tenant-row.ts';

const AgentTriggerEnum = { MANUAL: 'manual', EVENT: 'event' } as const;
export type AgentTrigger = (typeof AgentTriggerEnum)[keyof typeof AgentTriggerEnum];
registerEnumType(AgentTriggerEnum, {
  name: 'AgentTrigger',
  description: 'Cause of a run of an agent.',
  valuesConfig: {
    MANUAL: { description: 'A user.' },
    EVENT: { description: 'An event of an app.' },
  },
});

@ObjectType({ description: 'A call of a tool.' })
export class AgentToolCall {
  @Field(() => String, { description: 'Name with which the model called the tool.' })
  name!: string;

  @Field(() => String, { description: 'Arguments as the model sent them, at most 4,096 characters.' })
  arguments!: string;

  @Field(() => String, { nullable: true, description: 'Beginning of the result, at most 4,096 characters.' })
  result!: string | null;

  @WholeNumber()
  @Field(() => Float, { description: 'Duration in milliseconds.' })
  duration!: number;

  @Field(() => String, { nullable: true, description: 'Why the call failed; null for a success.' })
  error!: string | null;
}

@ObjectType({ description: 'A step of a run: a call of the model, and the tools that it called.' })
export class AgentStep {
  @Field(() => DateTime, { description: 'Start of the step.' })
  startedAt!: string;

  @WholeNumber()
  @Field(() => Float, { description: 'Duration of the call of the model in milliseconds.' })
  duration!: number;

  @Field(() => String, { description: 'Id of the model.' })
  model!: string;

  @Field(() => Int, {
    nullable: true,
    description:
      'Tokens of the request, estimated if the provider states none; null for a call that failed without stating them.',
  })
  inputTokens!: number | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'Tokens of the response, estimated if the provider states none; null for a call that failed without stating them.',
  })
  outputTokens!: number | null;

  @Field(() => Float, {
    nullable: true,
    description: 'Credits of the call; null for one that failed, and for a provider of the owner.',
  })
  credits!: number | null;

  @Field(() => String, { nullable: true, description: 'Text of the response, at most 4,096 characters.' })
  text!: string | null;

  @Field(() => String, { nullable: true, description: 'Why the call failed; null for a success.' })
  error!: string | null;

  @Field(() => [AgentToolCall], { description: 'Calls of tools, in their order.' })
  toolCalls!: AgentToolCall[];
}

/** A run of an agent (docs/contract/agents.md#runs-of-agents). The truth about a run is this row, not the queue. */
@ObjectType({ description: 'A run of an agent.', implements: Node })
@Entity()
export class AgentRun extends TenantRow {
  @Field(() => ID, { description: 'Id of the agent.' })
  @Property({ type: 'uuid' })
  agentId!: string;

  @Field(() => AgentTriggerEnum, { description: 'Cause of the run.' })
  @Enum({ items: () => Object.values(AgentTriggerEnum), type: 'text' })
  trigger!: AgentTrigger;

  @Field(() => OperationStatusEnum, { description: 'Current state.' })
  @Enum({ items: () => [...OPERATION_STATUSES], type: 'text' })
  status: OperationStatus = 'queued';

  /** Id of the event. An event starts an agent once. */
  @Property({ type: 'uuid', nullable: true })
  eventId?: string | null;

  @Field(() => String, { nullable: true, description: 'Name of the event that started it; null for a run by a user.' })
  @Property({ type: 'text', nullable: true })
  eventName?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Id of the app that raised the event; null for a run by a user. The app may have been deleted.',
  })
  @Property({ type: 'uuid', nullable: true })
  eventAppId?: string | null;

  @Field(() => Int, {
    description: 'Number of runs and handlers of apps in the chain that led to the run, itself included; at most 3.',
  })
  @Property({ type: 'integer' })
  depth!: number;

  /** Data for the model. `AgentRunResolver` decides who may read it. */
  @Property({ type: 'json', nullable: true })
  payload?: unknown = null;

  @Field(() => DateTime, { nullable: true, description: 'Start. Null while the run waits.' })
  @Property({ type: 'timestamptz', nullable: true })
  startedAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'End. Null before it.' })
  @Property({ type: 'timestamptz', nullable: true })
  finishedAt?: Date | null;

  @WholeNumber()
  @Field(() => Float, {
    nullable: true,
    description: 'Duration in milliseconds. Null before the end, and for a run that never started.',
  })
  @Property({ type: 'double', nullable: true })
  duration?: number | null;

  @Property({ type: 'json' })
  steps: AgentStep[] = [];

  @Property({ type: 'json' })
  notes: string[] = [];

  @Property({ type: 'text', nullable: true })
  output?: string | null;

  @Field(() => Float, { description: 'Credits charged for the run and its calls of models.' })
  @Property({ type: 'decimal', columnType: 'numeric(15, 6)' })
  credits: number = 0;

  @Property({ type: 'text', nullable: true })
  error?: string | null;

  @Field(() => ID, { nullable: true, description: 'Id of the user who started it. Null for a run on an event.' })
  @Property({ type: 'uuid', nullable: true })
  userId?: string | null;

  /** The operation that executes it. */
  @Property({ type: 'uuid', nullable: true })
  operationId?: string | null;

  /** Whether it stands for events that were left out, because the agent ran too often. It does not count as a run. */
  @Property({ type: 'boolean' })
  refused: boolean = false;
}
