import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** See docs/contract/resources.md#tags. */
@ObjectType({ description: 'A label for resources of any kind.', implements: Node })
@Entity()
export class Tag extends TenantRow {
  @Field(() => String, { description: 'Display name, unique in the tenant ignoring case.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Colour: `#rgb`, `#rrggbb` or a CSS colour name.',
  })
  @Property({ type: 'text', nullable: true })
  color?: string | null;

  @Field(() => String, { nullable: true, description: 'Description.' })
  @Property({ type: 'text', nullable: true })
  description?: string | null;

  @Field(() => ID, { nullable: true, description: 'Id of the user who created it; null if the user is deleted.' })
  @Property({ type: 'uuid', nullable: true })
  creatorId?: string | null;
}
