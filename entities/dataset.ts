import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, ObjectType } from 'type-graphql';
import type { Field as DatasetFieldShape } from '../src/core/fields.ts';
import type { FlowStep } from '../src/core/flow/flow.ts';
import type { ParameterDefinition } from '../src/core/parameters.ts';
import { DateTime } from '../src/core/scalars.ts';
import { WholeNumber } from '../src/core/whole-number.ts';
import { Node } from './node.ts';
import { OwnedRow } from './owned-row.ts';

@ObjectType({ description: 'The outcome of a dataset’s last refresh.' })
export class LastRefresh {
  @Field(() => DateTime, { description: 'Time when the refresh ended.' })
  at!: string;

  @Field(() => Boolean, { description: 'Whether the rows were replaced.' })
  success!: boolean;

  @WholeNumber()
  @Field(() => Float, {
    nullable: true,
    description: 'Duration in milliseconds; null to a caller who sees only a part of the rows.',
  })
  duration!: number | null;

  @Field(() => String, {
    nullable: true,
    description: 'Error message; null on success, and to a caller who sees only a part of the rows.',
  })
  error!: string | null;
}

/** The state of a dataset when a draft of it was created. */
export interface DraftBase {
  /** A digest of query, parameters, flow and settings. */
  definition: string;
  name: string;
  description: string | null;
  fields: DatasetFieldShape[];
}

/** A query and its stored rows; also a draft or a snapshot of one. See docs/contract/datasets.md#datasets. */
@ObjectType({
  description: 'A query and its rows, which are stored in the index and replaced by a refresh.',
  implements: Node,
})
@Entity()
export class Dataset extends OwnedRow {
  @Property({ type: 'uuid', nullable: true })
  datasourceId?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Saved query whose text and parameters the dataset follows; null if it has its own query.',
  })
  @Property({ type: 'uuid', nullable: true })
  queryId?: string | null;

  /** Its own query text; null when it follows a saved query. */
  @Property({ type: 'text', nullable: true })
  query?: string | null;

  @Property({ type: 'json' })
  params: ParameterDefinition[] = [];

  @Property({ type: 'json' })
  flow: FlowStep[] = [];

  /** All fields, including those that are hidden from some readers. Labels and descriptions survive a refresh. */
  @Property({ type: 'json' })
  fields: DatasetFieldShape[] = [];

  @Property({ type: 'json' })
  settings: Record<string, unknown> = {};

  @Field(() => Boolean, { description: 'Whether shares may restrict fields.' })
  @Property({ type: 'boolean' })
  fieldSecurityEnabled: boolean = false;

  /** The generation that readers see; null before the first refresh. */
  @Property({ type: 'uuid', nullable: true })
  generationId?: string | null;

  @Property({ type: 'integer', columnType: 'bigint' })
  records: number = 0;

  /** Bytes in the index. */
  @Property({ type: 'integer', columnType: 'bigint' })
  size: number = 0;

  @Property({ type: 'json', nullable: true })
  lastRefresh?: LastRefresh | null;

  @Field(() => DateTime, { nullable: true, description: 'Time when the rows were last replaced; null before that.' })
  @Property({ type: 'timestamptz', nullable: true })
  dataUpdatedAt?: Date | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Dataset that this is a draft or snapshot of; null for an independent dataset.',
  })
  @Property({ type: 'uuid', nullable: true })
  parentId?: string | null;

  @Field(() => Boolean, { description: 'Whether the dataset is a user’s draft of its parent.' })
  @Property({ type: 'boolean' })
  isDraft: boolean = false;

  /** Null unless this is a draft. */
  @Property({ type: 'json', nullable: true })
  draftBase?: DraftBase | null;

  @Field(() => Boolean, { description: 'Whether the dataset is a snapshot: a copy of its parent’s rows at one time.' })
  @Property({ type: 'boolean' })
  isSnapshot: boolean = false;

  @Field(() => DateTime, { nullable: true, description: 'Time at which the snapshot copied the rows.' })
  @Property({ type: 'timestamptz', nullable: true })
  snapshotDate?: Date | null;
}
