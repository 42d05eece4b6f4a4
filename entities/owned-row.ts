import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { TenantRow } from './tenant-row.ts';

/** What every kind has that somebody owns: name, slug, owner, folder (contract 5, "Common fields"). */
@ObjectType()
@Entity({ abstract: true })
export abstract class OwnedRow extends TenantRow {
  @Field(() => String, { description: 'Display name.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, { description: 'Short name, unique in the tenant among its kind.' })
  @Property({ type: 'text' })
  slug!: string;

  @Field(() => String, { nullable: true, description: 'What it is for, in the words of its people.' })
  @Property({ type: 'text', nullable: true })
  description?: string | null;

  /** The principal that owns it: `user:<id>` or `team:<id>`. */
  @Property({ type: 'text' })
  ownerId!: string;

  @Field(() => ID, { nullable: true, description: 'The folder it lies in; null outside of all folders.' })
  @Property({ type: 'uuid', nullable: true })
  folderId?: string | null;

  @Field(() => [ID], { description: 'Ids of its tags, in the order the tags were made.' })
  tags!: string[];
}
