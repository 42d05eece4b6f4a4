import { Field, InputType, Int } from 'type-graphql';
import { DateTime, JsonObject } from '../../src/core/scalars.ts';

/** What users change of their own record. */
@InputType({ description: 'What users change of their own record. Absent keys stay as they are, null clears.' })
export class UpdateMeInput {
  @Field(() => String, { nullable: true, description: 'Name to show.' })
  displayName?: string | null;

  @Field(() => String, { nullable: true, description: 'Given name.' })
  givenName?: string | null;

  @Field(() => String, { nullable: true, description: 'Family name.' })
  familyName?: string | null;

  @Field(() => String, { nullable: true, description: 'Middle name.' })
  middleName?: string | null;

  @Field(() => String, { nullable: true, description: 'Address for mail.' })
  email?: string | null;

  @Field(() => String, { nullable: true, description: 'IANA time zone.' })
  timezone?: string | null;

  @Field(() => JsonObject, {
    nullable: true,
    description: 'Settings of front-ends, e.g. `theme`, `language`, `pageSize`. Replaces the former.',
  })
  settings?: Record<string, unknown>;
}

/** What admins of users change besides. */
@InputType({ description: 'What admins of users change. Absent keys stay as they are, null clears.' })
export class UpdateUserInput extends UpdateMeInput {
  @Field(() => String, { nullable: true, description: 'Name to log in with.' })
  username?: string;

  @Field(() => String, { nullable: true, description: 'Where the account is kept.' })
  domain?: string;

  @Field(() => Boolean, { nullable: true, description: 'Whether the user may log in.' })
  enabled?: boolean;

  @Field(() => Boolean, { nullable: true, description: 'Locks or unlocks the login.' })
  locked?: boolean;

  @Field(() => DateTime, { nullable: true, description: 'When the login was locked.' })
  lockedAt?: Date | null;

  @Field(() => Int, { nullable: true, description: 'Failed logins in a row.' })
  loginAttempts?: number;

  @Field(() => DateTime, { nullable: true, description: 'When the password was set.' })
  passwordSetAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When the password stops working.' })
  passwordExpiresAt?: Date | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Accepted only when it is what it was: `/superuser` changes it.',
  })
  superuser?: boolean;
}

/** A new user. */
@InputType({ description: 'A new user.' })
export class CreateUserInput extends UpdateMeInput {
  @Field(() => String, { description: 'Name to log in with.' })
  username!: string;

  @Field(() => String, { description: 'At least 12 characters, not the username.' })
  password!: string;

  @Field(() => String, { nullable: true, description: 'Where the account is kept. Default `local`.' })
  domain?: string;

  @Field(() => Boolean, { nullable: true, description: 'Whether the user may log in. Default false.' })
  enabled?: boolean;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the user passes every check. Only superusers say true. Default false.',
  })
  superuser?: boolean;
}
