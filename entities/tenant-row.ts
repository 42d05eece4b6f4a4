import { Entity, Filter, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { newId } from '../src/core/id.ts';
import { DateTime } from '../src/core/scalars.ts';

/** What every row of a tenant has. The filter names the tenant in every statement of the unit of work; row-level security stands behind it. */
@ObjectType()
@Entity({ abstract: true })
@Filter({ name: 'tenant', cond: ({ tenantId }) => ({ tenantId }), default: true })
export abstract class TenantRow {
  @Field(() => ID, { description: 'UUID, version 7.' })
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  tenantId!: string;

  @Field(() => Int, { description: 'Counts the changes; entity tags and `If-Match` speak of it.' })
  @Property({ type: 'integer', version: true })
  version: number = 1;

  @Field(() => DateTime, { description: 'When it was made.' })
  @Property({ type: 'timestamptz' })
  createdAt: Date = new Date();

  @Field(() => DateTime, { description: 'When it last changed.' })
  @Property({ type: 'timestamptz', onUpdate: () => new Date() })
  updatedAt: Date = new Date();
}
