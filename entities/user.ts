import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import type { GlobalPermission } from '../src/core/permissions.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** A person with an account in one tenant (specification, "User, membership, team feed, comment"). */
@ObjectType({ description: 'A person with an account in the tenant.', implements: Node })
@Entity({ tableName: 'app_user' })
export class User extends TenantRow {
  @Field(() => String, { description: 'Name to log in with, unique in the tenant without regard to case.' })
  @Property({ type: 'text' })
  username!: string;

  @Field(() => String, { description: 'Where the account is kept; `local` accounts have their password here.' })
  @Property({ type: 'text' })
  domain: string = 'local';

  /** Argon2id; null for who has no password here. */
  @Property({ type: 'text', nullable: true, lazy: true })
  passwordHash?: string | null;

  @Field(() => String, { nullable: true, description: 'Name to show.' })
  @Property({ type: 'text', nullable: true })
  displayName?: string | null;

  @Field(() => String, { nullable: true, description: 'Given name.' })
  @Property({ type: 'text', nullable: true })
  givenName?: string | null;

  @Field(() => String, { nullable: true, description: 'Family name.' })
  @Property({ type: 'text', nullable: true })
  familyName?: string | null;

  @Field(() => String, { nullable: true, description: 'Middle name.' })
  @Property({ type: 'text', nullable: true })
  middleName?: string | null;

  @Field(() => String, { nullable: true, description: 'Address for mail.' })
  @Property({ type: 'text', nullable: true })
  email?: string | null;

  @Field(() => Boolean, { description: 'Whether the user may log in.' })
  @Property({ type: 'boolean' })
  enabled: boolean = false;

  @Field(() => Boolean, { description: 'Whether the user passes every check in the tenant.' })
  @Property({ type: 'boolean' })
  superuser: boolean = false;

  @Field(() => String, { nullable: true, description: 'IANA time zone.' })
  @Property({ type: 'text', nullable: true })
  timezone?: string | null;

  @Property({ type: 'json' })
  settings: Record<string, unknown> = {};

  /** Global permissions beyond those of a superuser. */
  @Property({ type: 'json' })
  permissions: GlobalPermission[] = [];

  @Property({ type: 'timestamptz', nullable: true })
  lockedAt?: Date | null;

  @Property({ type: 'integer' })
  loginAttempts: number = 0;

  @Property({ type: 'timestamptz', nullable: true })
  passwordSetAt?: Date | null;

  @Property({ type: 'timestamptz', nullable: true })
  passwordExpiresAt?: Date | null;
}
