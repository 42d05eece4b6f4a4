import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';
import { TenantRow } from './tenant-row.ts';

/** Something that a user should know; nobody else sees it (contract 6). */
@ObjectType({ description: 'Something that the caller should know; nobody else sees it. Kept for 90 days.' })
@Entity()
export class Notification extends TenantRow {
  /** Whom it tells. */
  @Property({ type: 'uuid' })
  userId!: string;

  @Field(() => String, { description: 'What it is about, e.g. `dataset.filter.broken`.' })
  @Property({ type: 'text' })
  type!: string;

  @Field(() => String, { description: 'The same in a sentence for people.' })
  @Property({ type: 'text' })
  message!: string;

  /** Kind and id of a resource, which may be gone by now. */
  @Property({ type: 'text', nullable: true })
  resourceKind?: string | null;

  @Property({ type: 'uuid', nullable: true })
  resourceId?: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the caller first marked it as read; null while it is unread.',
  })
  @Property({ type: 'timestamptz', nullable: true })
  readAt?: Date | null;
}
