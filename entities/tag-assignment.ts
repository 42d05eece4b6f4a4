import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import type { ResourceKind } from '../src/core/permissions.ts';
import { Tag } from './tag.ts';
import { TenantRow } from './tenant-row.ts';

/** A tag on one resource (specification, "Tags and favorites"). */
@ObjectType({ description: 'A tag on one resource.' })
@Entity()
export class TagAssignment extends TenantRow {
  @Property({ type: 'text' })
  kind!: ResourceKind;

  @Field(() => ID, { description: 'The resource.' })
  @Property({ type: 'uuid' })
  resourceId!: string;

  @Field(() => ID, { description: 'The tag.' })
  @Property({ type: 'uuid' })
  tagId!: string;

  @Field(() => Tag, { description: 'The tag, with its name and colour.' })
  tag!: Tag;
}
