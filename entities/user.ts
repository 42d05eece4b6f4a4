import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import type { GlobalPermission } from '../src/core/permissions.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** A person with an account in one tenant. See docs/contract/people.md#users. */
@ObjectType({ description: 'A person with an account in the tenant.', implements: Node })
@Entity({ tableName: 'app_user' })
export class User extends TenantRow {
  @Field(() => String, { description: 'Login name. Unique within the tenant, ignoring case.' })
  @Property({ type: 'text' })
  username!: string;

  @Field(() => String, {
    description: 'Domain of the account. Accounts of the domain `local` log in with a password of this service.',
  })
  @Property({ type: 'text' })
  domain: string = 'local';

  /** Argon2id hash. Null for users without a password, e.g. users of other domains. */
  @Property({ type: 'text', nullable: true, lazy: true })
  passwordHash?: string | null;

  @Field(() => String, { nullable: true, description: 'Display name.' })
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

  @Field(() => String, { nullable: true, description: 'E-mail address.' })
  @Property({ type: 'text', nullable: true })
  email?: string | null;

  /** Whether an API token set the address. See docs/contract/access.md#passwords. */
  @Property({ type: 'boolean' })
  emailSetByToken: boolean = false;

  @Field(() => Boolean, { description: 'Whether the user may log in.' })
  @Property({ type: 'boolean' })
  enabled: boolean = false;

  @Field(() => Boolean, {
    description: 'Whether the user is a superuser. Superusers have every permission in their tenant.',
  })
  @Property({ type: 'boolean' })
  superuser: boolean = false;

  @Field(() => String, { nullable: true, description: 'IANA time zone, e.g. `Europe/Paris`.' })
  @Property({ type: 'text', nullable: true })
  timezone?: string | null;

  @Property({ type: 'json' })
  settings: Record<string, unknown> = {};

  /** Granted global permissions. Superusers have all of them, granted or not. */
  @Property({ type: 'json' })
  permissions: GlobalPermission[] = [];

  /** Id of the usage profile assigned to the user. It takes precedence over the usage profiles of the teams. */
  @Property({ type: 'uuid', nullable: true })
  usageProfileId?: string | null;

  /** Time of the lock after failed logins, which expires. See docs/contract/access.md#sessions. */
  @Property({ type: 'timestamptz', nullable: true })
  lockedAt?: Date | null;

  /**
   * Time of the lock by an administrator, which only an administrator lifts. See docs/contract/access.md#locked-users.
   */
  @Property({ type: 'timestamptz', nullable: true })
  adminLockedAt?: Date | null;

  @Property({ type: 'integer' })
  loginAttempts: number = 0;

  @Property({ type: 'timestamptz', nullable: true })
  passwordSetAt?: Date | null;

  @Property({ type: 'timestamptz', nullable: true })
  passwordExpiresAt?: Date | null;

  /** Id of the file of the avatar. Its creation time is when the avatar was set. */
  @Property({ type: 'uuid', nullable: true })
  avatarId?: string | null;

  /** Id of the file that the avatar was drawn from. */
  @Property({ type: 'uuid', nullable: true })
  avatarOriginalId?: string | null;
}
