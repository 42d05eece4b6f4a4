import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/**
 * A login session. It ends 12 hours after its last use, and 30 days after the login. See
 * docs/contract/access.md#sessions.
 */
@ObjectType({
  description: 'A login session. It ends 12 hours after its last use, and 30 days after the login at the latest.',
  implements: Node,
})
@Entity()
export class Session extends TenantRow {
  @Property({ type: 'uuid' })
  userId!: string;

  /** SHA-256 of the random value in the cookie. */
  @Property({ type: 'text' })
  tokenHash!: string;

  @Field(() => String, { nullable: true, description: 'IP address of the login.' })
  @Property({ type: 'text', nullable: true })
  address?: string | null;

  @Field(() => String, { nullable: true, description: '`User-Agent` header of the login.' })
  @Property({ type: 'text', nullable: true })
  userAgent?: string | null;

  @Field(() => DateTime, { description: 'Time of the last use, accurate to the minute.' })
  @Property({ type: 'timestamptz' })
  lastUsedAt: Date = new Date();

  @Field(() => DateTime, {
    description: 'Time at which the session ends if it is not used before. Each use extends it.',
  })
  @Property({ type: 'timestamptz' })
  expiresAt!: Date;
}
