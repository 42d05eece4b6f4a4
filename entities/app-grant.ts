import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import type { AppScope } from '../src/core/app-access.ts';
import { DateTime } from '../src/core/scalars.ts';
import { AppScopeEnum } from './app-access.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** Rights that a user grants to an app of another owner (docs/contract/handlers.md#grants-to-apps). */
@ObjectType({
  description: 'Rights that the caller grants to an app of another owner. No other user sees them.',
  implements: Node,
})
@Entity()
export class AppGrant extends TenantRow {
  @Property({ type: 'uuid' })
  userId!: string;

  @Field(() => ID, { description: 'Id of the app.' })
  @Property({ type: 'uuid' })
  appId!: string;

  @Field(() => String, { description: 'Display name of the app.' })
  appName!: string;

  /** Principal that owned the app then. Another owner ends the grant. */
  @Property({ type: 'text' })
  ownerId!: string;

  /** The release that was active then. Grants of users with more permissions than a new user hold for this release alone. */
  @Property({ type: 'uuid' })
  releaseId!: string;

  @Field(() => [AppScopeEnum], { description: 'The scopes that were granted.' })
  @Property({ type: 'json' })
  scopes: AppScope[] = [];

  @Field(() => [String], { description: 'Hosts that may receive data that the app reads.' })
  @Property({ type: 'json' })
  hosts: string[] = [];

  @Field(() => DateTime, { nullable: true, description: 'Time of the last use, accurate to the minute.' })
  @Property({ type: 'timestamptz', nullable: true })
  lastUsedAt?: Date | null;
}
