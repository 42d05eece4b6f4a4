import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import type { ResourceKind } from '../src/core/permissions.ts';
import { Node } from './node.ts';
import { Tag } from './tag.ts';
import { TenantRow } from './tenant-row.ts';

/** See docs/contract/resources.md#tags. */
@ObjectType({ description: 'The assignment of a tag to a resource.', implements: Node })
@Entity()
export class TagAssignment extends TenantRow {
  @Property({ type: 'text' })
  kind!: ResourceKind;

  @Field(() => ID, { description: 'Id of the resource.' })
  @Property({ type: 'uuid' })
  resourceId!: string;

  @Field(() => ID, { description: 'Id of the tag.' })
  @Property({ type: 'uuid' })
  tagId!: string;

  @Field(() => Tag, { description: 'The tag.' })
  tag!: Tag;
}
