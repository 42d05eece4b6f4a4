import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { Kind, Level } from '../src/core/permissions.ts';
import { TenantRow } from './tenant-row.ts';

/** A right on one resource that a principal has beside its owner (specification, "Dataset share"; contract 3, "Shares"). */
@ObjectType({ description: 'A right on one resource that a user or team has beside its owner.' }) @Entity()
export class Share extends TenantRow {
  @Property({ type: 'text' })
  kind!: Kind;

  @Field(() => ID, { description: 'The resource.' }) @Property({ type: 'uuid' })
  resourceId!: string;

  /** `user:<id>` or `team:<id>`. */
  @Property({ type: 'text' })
  principal!: string;

  @Field(() => Int, { description: '1 View, 2 Edit, 3 Admin.' }) @Property({ type: 'integer' })
  accessLevel!: Level;
}
