import { Field, ID, InputType } from 'type-graphql';
import {
  NAME_RULE,
  OUTBOUND_URL_RULE,
  Rule,
  textRule,
  USERNAME_RULE,
  type InputRule,
} from '../src/core/input-rules.ts';

const ISSUER_RULE: InputRule = { ...OUTBOUND_URL_RULE, notNull: true };
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

/** Descriptions of fields that the inputs of both mutations have. */
const DOMAIN = 'Domain of the users that it authenticates, not `local`. A domain has at most one enabled provider.';
const NAME = 'Display name, e.g. on the login page.';
const ISSUER = 'URL of the issuer, below which the provider publishes `.well-known/openid-configuration`.';
const CLIENT_ID = 'Id with which the provider knows this service.';
const CLIENT_SECRET = 'Secret of this service at the provider. Write-only';
const SCOPE = 'Scopes that a login requests, separated by spaces.';
const USERNAME_CLAIM = 'Claim with the username. `email` counts only if the provider has verified the address.';
const CREATE_USERS = 'Whether a login creates a user who does not exist yet.';
const EMAIL_DOMAINS =
  'Domains of verified e-mail addresses that new users may have, e.g. `example.com`. Empty: all domains.';
const TEAM_IDS = 'Ids of the teams that new users join.';
const ENABLED = 'Whether users can log in with it. Users of its domain then cannot log in with a password.';

@InputType({ description: 'Changes to an identity provider. Absent keys are unchanged.' })
export class UpdateIdentityProviderInput {
  @Rule({ ...USERNAME_RULE, notNull: true })
  @Field(() => String, { nullable: true, description: DOMAIN })
  domain?: string;

  @Rule(NAME_RULE)
  @Field(() => String, { nullable: true, description: NAME })
  name?: string;

  @Rule(ISSUER_RULE)
  @Field(() => String, {
    nullable: true,
    description: `${ISSUER} A change unlinks all users from their accounts at the provider.`,
  })
  issuer?: string;

  @Rule({ ...textRule(500), notNull: true })
  @Field(() => String, { nullable: true, description: CLIENT_ID })
  clientId?: string;

  @Rule(textRule(2000))
  @Field(() => String, {
    nullable: true,
    description: `${CLIENT_SECRET}: absent keeps it, null clears it. Required when a stored secret exists and \`issuer\` changes.`,
  })
  clientSecret?: string | null;

  @Rule(SCOPE_RULE)
  @Field(() => String, { nullable: true, description: SCOPE })
  scope?: string;

  @Rule({ ...textRule(255), notNull: true })
  @Field(() => String, { nullable: true, description: USERNAME_CLAIM })
  usernameClaim?: string;

  @Rule({ notNull: true })
  @Field(() => Boolean, { nullable: true, description: CREATE_USERS })
  createUsers?: boolean;

  @Rule(EMAIL_DOMAINS_RULE)
  @Field(() => [String], { nullable: true, description: EMAIL_DOMAINS })
  emailDomains?: string[];

  @Rule({ maxItems: 100, notNull: true })
  @Field(() => [ID], { nullable: true, description: TEAM_IDS })
  teamIds?: string[];

  @Rule({ notNull: true })
  @Field(() => Boolean, { nullable: true, description: ENABLED })
  enabled?: boolean;
}

@InputType({ description: 'A new identity provider.' })
export class CreateIdentityProviderInput extends UpdateIdentityProviderInput {
  @Field(() => String, { description: DOMAIN })
  override domain!: string;

  @Field(() => String, { description: NAME })
  override name!: string;

  @Field(() => String, { description: ISSUER })
  override issuer!: string;

  @Field(() => String, { description: CLIENT_ID })
  override clientId!: string;

  @Field(() => String, {
    nullable: true,
    description: `${CLIENT_SECRET}. Default: none, for a client that proves itself by PKCE alone.`,
  })
  override clientSecret?: string | null;

  @Field(() => String, { nullable: true, description: `${SCOPE} Default: \`openid profile email\`.` })
  override scope?: string;

  @Field(() => String, { nullable: true, description: `${USERNAME_CLAIM} Default: \`preferred_username\`.` })
  override usernameClaim?: string;

  @Field(() => Boolean, { nullable: true, description: `${CREATE_USERS} Default: false.` })
  override createUsers?: boolean;

  @Field(() => [String], { nullable: true, description: `${EMAIL_DOMAINS} Default: empty.` })
  override emailDomains?: string[];

  @Field(() => [ID], { nullable: true, description: `${TEAM_IDS} Default: none.` })
  override teamIds?: string[];

  @Field(() => Boolean, { nullable: true, description: `${ENABLED} Default: true.` })
  override enabled?: boolean;
}
