import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** See docs/contract/people.md#comments. */
@ObjectType({
  description: 'A comment in a team. Only members of the team and superusers can read it.',
  implements: Node,
})
@Entity()
export class TeamComment extends TenantRow {
  @Field(() => ID, { description: 'Id of the team.' })
  @Property({ type: 'uuid' })
  teamId!: string;

  @Field(() => ID, { nullable: true, description: 'Id of the user who wrote it; null if the user is deleted.' })
  @Property({ type: 'uuid', nullable: true })
  userId?: string | null;

  @Field(() => String, { description: 'Text, exactly as it was sent.' })
  @Property({ type: 'text' })
  message!: string;
}
