import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** Where content lies. Folders are the tenant's: everybody reads them (specification, "Folder"; contract 9, "Folders"). */
@ObjectType({
  description: 'Where content lies. Folders are the tenant’s and nest as deep as one likes; siblings may share a name.',
  implements: Node,
})
@Entity()
export class Folder extends TenantRow {
  @Field(() => String, { description: 'Display name, 1 to 255 characters.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => ID, { nullable: true, description: 'The folder it lies in; null at the top.' })
  @Property({ type: 'uuid', nullable: true })
  parentId?: string | null;

  /** Who made it and so may change it; null once they are gone. */
  @Property({ type: 'uuid', nullable: true })
  creatorId?: string | null;
}
