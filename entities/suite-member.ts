import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { ObjectType } from 'type-graphql';
import { TenantRow } from './tenant-row.ts';

/** That a datasource belongs to a suite. It goes with either. */
@ObjectType({ description: 'That a datasource belongs to a suite.' })
@Entity()
export class SuiteMember extends TenantRow {
  @Property({ type: 'uuid' })
  suiteId!: string;

  @Property({ type: 'uuid' })
  datasourceId!: string;

  /** From 0, in the suite's order. */
  @Property({ type: 'integer' })
  position!: number;
}
