import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/**
 * A named group of datasources (docs/contract/datasources.md#links-and-suites). All users of the tenant see it, each
 * with the datasources that they may read.
 */
@ObjectType({
  description:
    'A named group of datasources. All users of the tenant can read it, ' +
    'but each sees only the datasources in it that they can read.',
  implements: Node,
})
@Entity()
export class Suite extends TenantRow {
  @Field(() => String, { description: 'Display name.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Description.' })
  @Property({ type: 'text', nullable: true })
  description?: string | null;

  /** Id of the user who created the suite and may change it. Null when the user has been deleted. */
  @Property({ type: 'uuid', nullable: true })
  creatorId?: string | null;
}
