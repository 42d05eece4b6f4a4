import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** See docs/contract/people.md#teams. */
@ObjectType({
  description: 'A group of users. It can own resources, and resources can be shared with it.',
  implements: Node,
})
@Entity()
export class Team extends TenantRow {
  @Field(() => String, { description: 'Display name.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, { description: 'Short name. Unique among the teams of the tenant.' })
  @Property({ type: 'text' })
  slug!: string;

  @Field(() => String, { nullable: true, description: 'Description.' })
  @Property({ type: 'text', nullable: true })
  description?: string | null;

  @Field(() => ID, { nullable: true, description: 'Id of the usage profile that is assigned to the team.' })
  @Property({ type: 'uuid', nullable: true })
  usageProfileId?: string | null;
}
