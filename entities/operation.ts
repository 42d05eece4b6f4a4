import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ObjectType, registerEnumType } from 'type-graphql';
import {
  OPERATION_NAMES,
  OPERATION_STATUSES,
  type OperationFailure,
  type OperationInputs,
  type OperationName,
  type OperationStatus,
} from '../src/core/operations.ts';
import { DateTime, Json } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';
import { wordEnum } from './word-enum.ts';

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
    QUEUED: { description: 'Waits for a worker, or for another operation on its resource.' },
    RUNNING: { description: 'Runs on a worker.' },
    SUCCEEDED: { description: 'Ended successfully. `result` is available.' },
    FAILED: { description: 'Ended with an error. Of the operations that fail, only the run of a job has a result.' },
    CANCELLED: {
      description: 'Cancelled by its caller or with its resource. No part of its result is visible.',
    },
  },
});

const OperationNameEnum = wordEnum(
  'OperationName',
  'Name of a long operation.',
  OPERATION_NAMES,
  (name) =>
    ({
      'dataset.refresh': 'Loads the rows of a dataset from its datasource.',
      'dataset.run': 'Runs the query of a dataset and returns its rows.',
      'dataset.benchmark': 'Measures the query of a dataset.',
      'dataset.preview': 'Loads rows by a changed query or flow, for a preview.',
      'dataset.promoteRefresh': 'Publishes the rows of a refresh preview.',
      'dataset.copy': 'Copies a dataset with its rows.',
      'dataset.snapshot': 'Creates a snapshot of a dataset.',
      'dataset.promote': 'Replaces the rows of a dataset by the rows of a snapshot.',
      'datasource.replaceFile': 'Replaces the file of a datasource.',
      'job.run': 'Runs the actions of a job.',
      'template.render': 'Renders a template.',
      'app.migrate': 'Runs the migrations of an app.',
      'app.deploy': 'Deploys an app.',
      'library.sync': 'Syncs a library with its drive.',
      'agent.run': 'Runs an agent.',
      'image.create': 'Creates an image with an AI model.',
    })[name],
);

/**
 * A long operation with its progress. Records stay for seven days after the end. See
 * docs/contract/operations.md#operations.
 */
@ObjectType({
  description:
    'A long operation, e.g. a refresh, with its progress and result. ' +
    'The record stays available for seven days after the operation ended.',
  implements: Node,
})
@Entity()
export class Operation extends TenantRow {
  /**
   * Id of the work item: the operation's own id, or the id of the waiting operation that it joined. Unfinished
   * operations that share a work item change state together.
   */
  @Property({ type: 'uuid' })
  workId!: string;

  /** The user who started the operation. */
  @Property({ type: 'uuid' })
  userId!: string;

  @Field(() => String, { nullable: true, description: 'The caller’s own name for the operation.' })
  @Property({ type: 'text', nullable: true })
  progress?: string | null;

  @Field(() => OperationNameEnum, { description: 'Name of the operation.' })
  @Property({ type: 'text' })
  operation!: OperationName;

  @Property({ type: 'text' })
  resourceKind!: string;

  @Property({ type: 'uuid' })
  resourceId!: string;

  /** W3C `traceparent` of the request, if it has a trace. */
  @Property({ type: 'text', nullable: true })
  traceparent?: string | null;

  /** Input of the handler, see `OperationInputs`. */
  @Property({ type: 'json' })
  input: OperationInputs[OperationName] = {};

  @Field(() => OperationStatusEnum, { description: 'Current state.' })
  @Enum({ items: () => [...OPERATION_STATUSES], type: 'text' })
  status: OperationStatus = 'queued';

  @Field(() => Float, {
    nullable: true,
    description:
      'Progress in percent: at most 99 while the operation runs, 100 when it has succeeded. Null while the total is unknown.',
  })
  @Property({ type: 'double', nullable: true })
  percent?: number | null;

  @Field(() => Float, { description: 'Number of units done so far.' })
  @Property({ type: 'integer', columnType: 'bigint' })
  current: number = 0;

  @Field(() => Float, {
    nullable: true,
    description: 'Total number of units, or the best estimate of it. Null while unknown.',
  })
  @Property({ type: 'integer', columnType: 'bigint', nullable: true })
  total?: number | null;

  @Field(() => String, { nullable: true, description: 'Unit of `current` and `total`, e.g. `rows`.' })
  @Property({ type: 'text', nullable: true })
  unit?: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Phase of a load (`Reading rows`, `Building the index`, `Publishing`), or warnings of the finished operation.',
  })
  @Property({ type: 'text', nullable: true })
  message?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Time at which a worker first started the operation.' })
  @Property({ type: 'timestamptz', nullable: true })
  startedAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Time at which the operation ended.' })
  @Property({ type: 'timestamptz', nullable: true })
  finishedAt?: Date | null;

  @Field(() => Json, {
    nullable: true,
    description: 'Result of the operation. Its fields depend on `operation`. Null until it has succeeded.',
  })
  @Property({ type: 'json', nullable: true })
  result?: unknown;

  @Property({ type: 'json', nullable: true })
  error?: OperationFailure | null;

  /** Number of changes of the record. It is the id of the server-sent events. */
  @Property({ type: 'integer' })
  sequence: number = 0;

  /** Number of attempts so far. A worker whose attempt is not the current one publishes nothing. */
  @Property({ type: 'integer' })
  attempt: number = 0;

  @Property({ type: 'timestamptz', nullable: true })
  heartbeatAt?: Date | null;

  /** Time before which no worker starts the next attempt. */
  @Property({ type: 'timestamptz', nullable: true })
  nextAttemptAt?: Date | null;

  /** Time of the cancellation. The worker of a running operation then stops. */
  @Property({ type: 'timestamptz', nullable: true })
  cancelledAt?: Date | null;

  /** Operations with the same key, e.g. `dataset:<id>`, run one at a time. */
  @Property({ type: 'text', nullable: true })
  concurrencyKey?: string | null;

  /** Digest of the input. An operation joins a waiting one with the same key and fingerprint. */
  @Property({ type: 'text', nullable: true })
  fingerprint?: string | null;
}
