import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';
import { TenantRow } from './tenant-row.ts';

/** A login that lasts (contract 2): 12 hours sliding, 30 days at most. */
@ObjectType({ description: 'A login that lasts: 12 hours after its last use, 30 days at most.' })
@Entity()
export class Session extends TenantRow {
  @Property({ type: 'uuid' })
  userId!: string;

  /** SHA-256 of the cookie's random value. */
  @Property({ type: 'text' })
  tokenHash!: string;

  @Field(() => String, { nullable: true, description: 'Address it was opened from.' })
  @Property({ type: 'text', nullable: true })
  address?: string | null;

  @Field(() => String, { nullable: true, description: 'The browser or client, in its own words.' })
  @Property({ type: 'text', nullable: true })
  userAgent?: string | null;

  @Field(() => DateTime, { description: 'When it was last used, to the minute.' })
  @Property({ type: 'timestamptz' })
  lastUsedAt: Date = new Date();

  @Field(() => DateTime, { description: 'When it ends unless it is used before.' })
  @Property({ type: 'timestamptz' })
  expiresAt!: Date;
}
