import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { TenantRow } from './tenant-row.ts';

/** The columns of every kind with owners (docs/contract/resources.md#resources). */
@ObjectType()
@Entity({ abstract: true })
export abstract class OwnedRow extends TenantRow {
  @Field(() => String, { description: 'Display name.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, { description: 'Short name, unique in the tenant among resources of the same kind.' })
  @Property({ type: 'text' })
  slug!: string;

  @Field(() => String, { nullable: true, description: 'Description.' })
  @Property({ type: 'text', nullable: true })
  description?: string | null;

  /** Principal that owns it: `user:<id>` or `team:<id>`. */
  @Property({ type: 'text' })
  ownerId!: string;

  @Field(() => ID, { nullable: true, description: 'Id of the folder; null if it is in none.' })
  @Property({ type: 'uuid', nullable: true })
  folderId?: string | null;

  @Field(() => [ID], { description: 'Ids of its tags, in the order in which the tags were created.' })
  tags!: string[];
}
