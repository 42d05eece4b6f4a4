import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** A word that people put on resources to find them again (specification, "Tags and favorites"; contract 5). */
@ObjectType({ description: 'A word that people put on resources to find them again.', implements: Node })
@Entity()
export class Tag extends TenantRow {
  @Field(() => String, { description: 'The word, unique in the tenant, ignoring case.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description: 'The colour it is shown in: `#rgb`, `#rrggbb` or a colour’s name in CSS.',
  })
  @Property({ type: 'text', nullable: true })
  color?: string | null;

  @Field(() => String, { nullable: true, description: 'What it stands for.' })
  @Property({ type: 'text', nullable: true })
  description?: string | null;

  @Field(() => ID, { nullable: true, description: 'The user who made it; null when there is no such user any more.' })
  @Property({ type: 'uuid', nullable: true })
  creatorId?: string | null;
}
