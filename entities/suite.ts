import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** Datasources that belong together. Suites are the tenant's: everybody sees them, each with the datasources they may read (contract 9). */
@ObjectType({
  description:
    'Datasources that belong together. Everybody in the tenant sees it, with those of its datasources that they may read.',
  implements: Node,
})
@Entity()
export class Suite extends TenantRow {
  @Field(() => String, { description: 'Display name.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'What it is for.' })
  @Property({ type: 'text', nullable: true })
  description?: string | null;

  /** Who made it and so may change it; null once they are gone. */
  @Property({ type: 'uuid', nullable: true })
  creatorId?: string | null;
}
