import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ObjectType, registerEnumType } from 'type-graphql';
import {
  OPERATION_STATUSES,
  type OperationFailure,
  type OperationName,
  type OperationStatus,
} from '../src/core/operations.ts';
import { DateTime, Json } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

export const OperationStatusEnum = {
  QUEUED: 'queued',
  RUNNING: 'running',
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
} as const satisfies Record<string, OperationStatus>;
registerEnumType(OperationStatusEnum, {
  name: 'OperationStatus',
  description: 'State of a long operation.',
  valuesConfig: {
    QUEUED: { description: 'Waits for a worker.' },
    RUNNING: { description: 'A worker is at it.' },
    SUCCEEDED: { description: 'Done; its result is there.' },
    FAILED: { description: 'Ended with an error; nothing of it is visible.' },
    CANCELLED: { description: 'Ended by its caller; nothing of it is visible.' },
  },
});

/** A long operation and how far it is (contract 6). Records stay seven days. */
@ObjectType({ description: 'A long operation and how far it is.', implements: Node })
@Entity()
export class Operation extends TenantRow {
  /** The piece of work it is done by: its own id, or that of the waiting operation it joined. Unfinished operations of one piece of work change state together. */
  @Property({ type: 'uuid' })
  workId!: string;

  /** Who asked for it. */
  @Property({ type: 'uuid' })
  userId!: string;

  @Field(() => String, { nullable: true, description: 'The caller’s own name for it.' })
  @Property({ type: 'text', nullable: true })
  progress?: string | null;

  @Field(() => String, { description: 'What is being done, e.g. `dataset.refresh`.' })
  @Property({ type: 'text' })
  operation!: OperationName;

  @Property({ type: 'text' })
  resourceKind!: string;

  @Property({ type: 'uuid' })
  resourceId!: string;

  /** What the handler needs. */
  @Property({ type: 'json' })
  input: Record<string, unknown> = {};

  @Field(() => OperationStatusEnum, { description: 'Its state.' })
  @Enum({ items: () => [...OPERATION_STATUSES], type: 'text' })
  status: OperationStatus = 'queued';

  @Field(() => Float, { nullable: true, description: 'How far it is, 0 to 100; null while that cannot be known.' })
  @Property({ type: 'double', nullable: true })
  percent?: number | null;

  @Field(() => Float, { description: 'Units done so far.' })
  @Property({ type: 'integer', columnType: 'bigint' })
  current: number = 0;

  @Field(() => Float, { nullable: true, description: 'Units altogether; null while unknown.' })
  @Property({ type: 'integer', columnType: 'bigint', nullable: true })
  total?: number | null;

  @Field(() => String, { nullable: true, description: 'What is counted, e.g. `rows`.' })
  @Property({ type: 'text', nullable: true })
  unit?: string | null;

  @Field(() => String, { nullable: true, description: 'What it is at, for people.' })
  @Property({ type: 'text', nullable: true })
  message?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When a worker began.' })
  @Property({ type: 'timestamptz', nullable: true })
  startedAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it ended.' })
  @Property({ type: 'timestamptz', nullable: true })
  finishedAt?: Date | null;

  @Field(() => Json, { nullable: true, description: 'What it came to.' })
  @Property({ type: 'json', nullable: true })
  result?: unknown;

  @Property({ type: 'json', nullable: true })
  error?: OperationFailure | null;

  /** Counts the changes of the record; the ids of its server-sent events. */
  @Property({ type: 'integer' })
  sequence: number = 0;

  /** Which try this is; a worker whose attempt is not the current one publishes nothing. */
  @Property({ type: 'integer' })
  attempt: number = 0;

  @Property({ type: 'timestamptz', nullable: true })
  heartbeatAt?: Date | null;

  /** Set when the caller asked to stop; the worker looks. */
  @Property({ type: 'timestamptz', nullable: true })
  cancelledAt?: Date | null;

  /** Of the operations with the same key one runs at a time, e.g. `dataset:<id>`. */
  @Property({ type: 'text', nullable: true })
  concurrencyKey?: string | null;

  /** Equal fingerprints ask for the same; a later one joins the earlier. */
  @Property({ type: 'text', nullable: true })
  fingerprint?: string | null;
}
