import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** A folder for resources of any kind. All users of the tenant may read it (docs/contract/resources.md#folders). */
@ObjectType({
  description:
    'A folder for resources of any kind, visible to all users of the tenant. ' +
    'Folders nest to any depth. Siblings may have equal names.',
  implements: Node,
})
@Entity()
export class Folder extends TenantRow {
  @Field(() => String, { description: 'Display name, 1 to 255 characters.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => ID, { nullable: true, description: 'Id of the parent folder; null at the top level.' })
  @Property({ type: 'uuid', nullable: true })
  parentId?: string | null;

  /** User who created it and may change it; null if the user is deleted. */
  @Property({ type: 'uuid', nullable: true })
  creatorId?: string | null;
}
