import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { ObjectType } from 'type-graphql';
import { TenantRow } from './tenant-row.ts';

/** Membership of a datasource in a suite. Deleted together with either of them. */
@ObjectType({ description: 'Membership of a datasource in a suite.' })
@Entity()
export class SuiteMember extends TenantRow {
  @Property({ type: 'uuid' })
  suiteId!: string;

  @Property({ type: 'uuid' })
  datasourceId!: string;

  /** Zero-based position in the suite. */
  @Property({ type: 'integer' })
  position!: number;
}
