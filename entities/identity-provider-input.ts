import { Field, ID, InputType } from 'type-graphql';
import { NAME_RULE, Rule, textRule, USERNAME_RULE, type InputRule } from '../src/core/input-rules.ts';

const ISSUER_RULE: InputRule = {
  minLength: 1,
  maxLength: 500,
  pattern: '^https?://[^\\s?#@\\\\]+$',
  patternMessage: 'must be an https: URL without query, fragment and username',
  notNull: true,
};
const SCOPE_RULE: InputRule = {
  minLength: 1,
  maxLength: 500,
  pattern: '^(?:[!#-\\[\\]-~]+ )*openid(?: [!#-\\[\\]-~]+)*$',
  patternMessage: 'must be a list of scopes, separated by single spaces, that contains openid',
  notNull: true,
};
const EMAIL_DOMAINS_RULE: InputRule = {
  maxItems: 100,
  items: { minLength: 1, maxLength: 255, pattern: '^[^\\s@]+$', patternMessage: 'must be the domain of an address' },
  notNull: true,
};

/** Changes to an identity provider. */
@InputType({ description: 'Changes to an identity provider. Absent keys are unchanged.' })
export class UpdateIdentityProviderInput {
  @Rule({ ...USERNAME_RULE, notNull: true })
  @Field(() => String, {
    nullable: true,
    description: 'Domain of the users that it authenticates, not `local`. A domain has at most one enabled provider.',
  })
  domain?: string;

  @Rule(NAME_RULE)
  @Field(() => String, { nullable: true, description: 'Display name, e.g. on the login page.' })
  name?: string;

  @Rule(ISSUER_RULE)
  @Field(() => String, {
    nullable: true,
    description:
      'URL of the issuer, below which the provider publishes `.well-known/openid-configuration`. A change separates ' +
      'all users from their accounts at the provider.',
  })
  issuer?: string;

  @Rule({ ...textRule(500), notNull: true })
  @Field(() => String, { nullable: true, description: 'Id with which the provider knows this service.' })
  clientId?: string;

  @Rule(textRule(2000))
  @Field(() => String, {
    nullable: true,
    description:
      'Secret of this service at the provider. Write-only: absent keeps it, null clears it. Required when a stored ' +
      'secret exists and `issuer` changes.',
  })
  clientSecret?: string | null;

  @Rule(SCOPE_RULE)
  @Field(() => String, {
    nullable: true,
    description: 'Scopes that a login requests, separated by spaces. Default: `openid profile email`.',
  })
  scope?: string;

  @Rule({ ...textRule(255), notNull: true })
  @Field(() => String, {
    nullable: true,
    description:
      'Claim with the username. `email` counts only if the provider has verified the address. ' +
      'Default: `preferred_username`.',
  })
  usernameClaim?: string;

  @Rule({ notNull: true })
  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether a login creates a user who does not exist yet. Default: false.',
  })
  createUsers?: boolean;

  @Rule(EMAIL_DOMAINS_RULE)
  @Field(() => [String], {
    nullable: true,
    description:
      'Domains of verified e-mail addresses to which the creation of users is limited, e.g. `example.com`. ' +
      'Default: empty, no limit.',
  })
  emailDomains?: string[];

  @Rule({ maxItems: 100, notNull: true })
  @Field(() => [ID], {
    nullable: true,
    description: 'Ids of the teams of which created users become members. Default: none.',
  })
  teamIds?: string[];

  @Rule({ notNull: true })
  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether users can log in with it. Users of its domain then cannot log in with a password. Default: true.',
  })
  enabled?: boolean;
}

/** A new identity provider. */
@InputType({ description: 'A new identity provider.' })
export class CreateIdentityProviderInput extends UpdateIdentityProviderInput {
  @Field(() => String, {
    description: 'Domain of the users that it authenticates, not `local`. A domain has at most one enabled provider.',
  })
  override domain!: string;

  @Field(() => String, { description: 'Display name, e.g. on the login page.' })
  override name!: string;

  @Field(() => String, {
    description: 'URL of the issuer, below which the provider publishes `.well-known/openid-configuration`.',
  })
  override issuer!: string;

  @Field(() => String, { description: 'Id with which the provider knows this service.' })
  override clientId!: string;
}
