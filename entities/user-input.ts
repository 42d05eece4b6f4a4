import { Field, InputType, Int } from 'type-graphql';
import { EMAIL_RULE, intRule, optionalTextRule, PASSWORD_RULE, Rule, USERNAME_RULE } from '../src/core/input-rules.ts';
import { DateTime, JsonObject } from '../src/core/scalars.ts';

@InputType({ description: 'Changes to the caller’s own profile. Absent keys are unchanged, and null clears a value.' })
export class UpdateMeInput {
  @Rule(optionalTextRule(255))
  @Field(() => String, { nullable: true, description: 'Display name.' })
  displayName?: string | null;

  @Rule(optionalTextRule(255))
  @Field(() => String, { nullable: true, description: 'Given name.' })
  givenName?: string | null;

  @Rule(optionalTextRule(255))
  @Field(() => String, { nullable: true, description: 'Family name.' })
  familyName?: string | null;

  @Rule(optionalTextRule(255))
  @Field(() => String, { nullable: true, description: 'Middle name.' })
  middleName?: string | null;

  @Rule(EMAIL_RULE)
  @Field(() => String, { nullable: true, description: 'E-mail address.' })
  email?: string | null;

  @Field(() => String, { nullable: true, description: 'IANA time zone, e.g. `Europe/Paris`.' })
  timezone?: string | null;

  @Rule({ notNull: true })
  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Settings of front-ends, e.g. `theme`, `language`, `pageSize`. Replaces all settings. At most 65,536 ' +
      'characters as JSON.',
  })
  settings?: Record<string, unknown>;
}

@InputType({
  description:
    'Changes to a user. Absent keys are unchanged, and null clears a value. Users without `users:edit` can ' +
    'change only their ' +
    'profile.',
})
export class UpdateUserInput extends UpdateMeInput {
  @Rule({ ...USERNAME_RULE, notNull: true })
  @Field(() => String, { nullable: true, description: 'Login name.' })
  username?: string;

  @Rule({ ...USERNAME_RULE, notNull: true })
  @Field(() => String, { nullable: true, description: 'Domain of the account.' })
  domain?: string;

  @Rule({ notNull: true })
  @Field(() => Boolean, { nullable: true, description: 'Whether the user may log in.' })
  enabled?: boolean;

  @Rule({ notNull: true })
  @Field(() => Boolean, {
    nullable: true,
    description:
      'Locks the user (`true`) until an administrator unlocks them, or unlocks them (`false`). A lock ends sessions, ' +
      'and tokens are refused while it lasts.',
  })
  locked?: boolean;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Time of the lock. Any time locks the user like `locked: true`, and null unlocks them.',
  })
  lockedAt?: Date | null;

  @Rule({ ...intRule(0), notNull: true })
  @Field(() => Int, { nullable: true, description: 'Number of consecutive failed logins.' })
  loginAttempts?: number;

  @Field(() => DateTime, { nullable: true, description: 'Time at which the password was set.' })
  passwordSetAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Expiry time of the password.' })
  passwordExpiresAt?: Date | null;

  @Rule({ notNull: true })
  @Field(() => Boolean, {
    nullable: true,
    description: 'Must equal the current value. Use `setSuperuser` to change it.',
  })
  superuser?: boolean;
}

@InputType({ description: 'A new user.' })
export class CreateUserInput extends UpdateMeInput {
  @Rule(USERNAME_RULE)
  @Field(() => String, {
    description:
      'Login name of 1 to 100 characters that matches `^[A-Za-z0-9][A-Za-z0-9_.@-]*$`. Unique within the tenant, ' +
      'ignoring case.',
  })
  username!: string;

  @Rule(PASSWORD_RULE)
  @Field(() => String, { description: 'Password of 12 to 1,024 characters that is not the username.' })
  password!: string;

  @Rule({ ...USERNAME_RULE, notNull: true })
  @Field(() => String, { nullable: true, description: 'Domain of the account. Default: `local`.' })
  domain?: string;

  @Rule({ notNull: true })
  @Field(() => Boolean, { nullable: true, description: 'Whether the user may log in. Default: false.' })
  enabled?: boolean;

  @Rule({ notNull: true })
  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether the user is a superuser. Only a superuser can set `true`, and only in a session. Default: false.',
  })
  superuser?: boolean;
}
