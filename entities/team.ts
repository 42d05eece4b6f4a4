import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** People who own and share things together (contract 9). */
@ObjectType({ description: 'People who own and share things together.', implements: Node })
@Entity()
export class Team extends TenantRow {
  @Field(() => String, { description: 'Display name.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, { description: 'Short name, unique in the tenant among teams.' })
  @Property({ type: 'text' })
  slug!: string;

  @Field(() => String, { nullable: true, description: 'What the team is for.' })
  @Property({ type: 'text', nullable: true })
  description?: string | null;

  @Field(() => ID, { nullable: true, description: 'The usage profile assigned to the team.' })
  @Property({ type: 'uuid', nullable: true })
  usageProfileId?: string | null;
}
