import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { newId } from '../src/core/id.ts';
import { DateTime } from '../src/core/scalars.ts';

/**
 * The columns of every row that belongs to a tenant. Every statement of the unit of work names the tenant, in addition to
 * row-level security (docs/architecture.md#tenants).
 */
@ObjectType()
@Entity({ abstract: true })
export abstract class TenantRow {
  @Field(() => ID, { description: 'UUID, version 7.' })
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  tenantId!: string;

  @Field(() => Int, { description: 'Revision number, used in `ETag` and `If-Match`.' })
  @Property({ type: 'integer', version: true })
  version: number = 1;

  @Field(() => DateTime, { description: 'Creation time.' })
  @Property({ type: 'timestamptz' })
  createdAt: Date = new Date();

  @Field(() => DateTime, { description: 'Time of the last change.' })
  @Property({ type: 'timestamptz', onUpdate: () => new Date() })
  updatedAt: Date = new Date();
}
