import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import type { Field as DatasetFieldShape } from '../src/core/fields.ts';
import type { FlowStep } from '../src/core/flow/flow.ts';
import type { ParameterDefinition } from '../src/core/parameters.ts';
import { DateTime } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { OwnedRow } from './owned-row.ts';

/** How the last refresh went. `at` is an ISO timestamp, `duration` in milliseconds. */
export interface LastRefresh {
  at: string;
  success: boolean;
  duration: number | null;
  error: string | null;
}

/** What a dataset was when a draft of it was made. */
export interface DraftBase {
  /** A digest of query, parameters, flow and settings. */
  definition: string;
  name: string;
  description: string | null;
  fields: DatasetFieldShape[];
}

/** A query’s rows, kept in the index and refreshed on demand (specification, "Dataset draft and snapshot fields", and contract 5, 7). */
@ObjectType({
  description: 'A query’s rows, kept in the index and refreshed on demand or on schedule.',
  implements: Node,
})
@Entity()
export class Dataset extends OwnedRow {
  @Property({ type: 'uuid', nullable: true })
  datasourceId?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'The saved query whose text and parameters it follows; null when it has its own.',
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

  /** The fields clients see, hidden ones included; labels and descriptions survive a refresh. */
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

  @Property({ type: 'integer', columnType: 'bigint' })
  size: number = 0;

  @Property({ type: 'json', nullable: true })
  lastRefresh?: LastRefresh | null;

  @Field(() => DateTime, { nullable: true, description: 'When its rows were last replaced.' })
  @Property({ type: 'timestamptz', nullable: true })
  dataUpdatedAt?: Date | null;

  @Field(() => ID, { nullable: true, description: 'The dataset it is a draft or snapshot of; null when independent.' })
  @Property({ type: 'uuid', nullable: true })
  parentId?: string | null;

  @Field(() => Boolean, { description: 'Whether it is somebody’s draft of its parent.' })
  @Property({ type: 'boolean' })
  isDraft: boolean = false;

  /** Of a draft. */
  @Property({ type: 'json', nullable: true })
  draftBase?: DraftBase | null;

  @Field(() => Boolean, { description: 'Whether it keeps its parent’s rows of an earlier moment.' })
  @Property({ type: 'boolean' })
  isSnapshot: boolean = false;

  @Field(() => DateTime, { nullable: true, description: 'The moment a snapshot keeps.' })
  @Property({ type: 'timestamptz', nullable: true })
  snapshotDate?: Date | null;
}
