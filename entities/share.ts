import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { ResourceKind, ShareLevel } from '../src/core/permissions.ts';
import { TenantRow } from './tenant-row.ts';

/** A right on one resource that a principal has beside its owner (specification, "Dataset share"; contract 3, "Shares"). */
@ObjectType({ description: 'A right on one resource that a user or team has beside its owner.' })
@Entity()
export class Share extends TenantRow {
  @Property({ type: 'text' })
  kind!: ResourceKind;

  @Field(() => ID, { description: 'The resource.' })
  @Property({ type: 'uuid' })
  resourceId!: string;

  /** `user:<id>` or `team:<id>`. */
  @Property({ type: 'text' })
  principal!: string;

  @Field(() => Int, { description: '1 View, 2 Edit, 3 Admin.' })
  @Property({ type: 'integer' })
  accessLevel!: ShareLevel;

  @Field(() => ID, {
    nullable: true,
    description: 'Of a dataset: the saved filter whose rows it shows; null for all rows.',
  })
  @Property({ type: 'uuid', nullable: true })
  datasetFilterId?: string | null;

  @Field(() => Boolean, {
    description: 'Of a dataset: whether it shows `visibleFields` alone, as long as the dataset secures its fields.',
  })
  @Property({ type: 'boolean' })
  restrictFields: boolean = false;

  @Field(() => [String], {
    nullable: true,
    description: 'Of a dataset: names of the fields that it shows when it restricts them.',
  })
  @Property({ type: 'json', nullable: true })
  visibleFields?: string[] | null;
}
