import { Field, ID, InputType } from 'type-graphql';
import { NAME_RULE, OUTBOUND_URL_RULE, Rule, textRule, UUID_RULE, type InputRule } from '../src/core/input-rules.ts';

const SCOPE_RULE: InputRule = {
  minLength: 1,
  maxLength: 2000,
  pattern: '^[!#-\\[\\]-~]+(?: [!#-\\[\\]-~]+)*$',
  patternMessage: 'must be a list of scopes, separated by single spaces',
};

/** Descriptions of fields that the inputs of both mutations have. */
const NAME = 'Display name.';
const TYPE = 'Provider: `google-drive`, `dropbox`, `onedrive` or `box`.';
const CLIENT_ID = 'Id with which the provider knows this service.';
const CLIENT_SECRET = 'Secret of this service at the provider. Write-only';
const OF_TYPE = 'Null and the default: the URL of the type. Only superusers may set another one.';
const AUTH_URI = `URL at which users authorize this service. ${OF_TYPE}`;
const TOKEN_URI = `URL that issues tokens. ${OF_TYPE}`;
const REVOKE_URI = `URL that revokes tokens. ${OF_TYPE}`;
const API_URI = `Base of the URLs of the API, with its version. ${OF_TYPE}`;
const CONTENT_URI = `Base of the URLs of contents. ${OF_TYPE}`;
const SCOPE =
  'Scopes that an authorization requests, separated by spaces. Null and the default: the scopes of the type.';

@InputType({
  description:
    'Changes to an integration. Absent keys are unchanged. Another type sets the URLs and the scope of that type where ' +
    'no others are given. A change of type, client or URLs ends the connections of its libraries.',
})
export class UpdateIntegrationInput {
  @Rule(NAME_RULE)
  @Field(() => String, { nullable: true, description: NAME })
  name?: string;

  @Rule({ ...textRule(100), notNull: true })
  @Field(() => String, { nullable: true, description: TYPE })
  type?: string;

  @Rule({ ...textRule(500), notNull: true })
  @Field(() => String, { nullable: true, description: CLIENT_ID })
  clientId?: string;

  @Rule(textRule(2000))
  @Field(() => String, {
    nullable: true,
    description:
      `${CLIENT_SECRET}: absent keeps it, null clears it. Required when a stored secret exists and the type, the client or ` +
      'a URL changes.',
  })
  clientSecret?: string | null;

  @Rule(OUTBOUND_URL_RULE)
  @Field(() => String, { nullable: true, description: AUTH_URI })
  authUri?: string | null;

  @Rule(OUTBOUND_URL_RULE)
  @Field(() => String, { nullable: true, description: TOKEN_URI })
  tokenUri?: string | null;

  @Rule(OUTBOUND_URL_RULE)
  @Field(() => String, { nullable: true, description: REVOKE_URI })
  revokeUri?: string | null;

  @Rule(OUTBOUND_URL_RULE)
  @Field(() => String, { nullable: true, description: API_URI })
  apiUri?: string | null;

  @Rule(OUTBOUND_URL_RULE)
  @Field(() => String, { nullable: true, description: CONTENT_URI })
  contentUri?: string | null;

  @Rule(SCOPE_RULE)
  @Field(() => String, { nullable: true, description: SCOPE })
  scope?: string | null;
}

@InputType({ description: 'A new integration.' })
export class CreateIntegrationInput extends UpdateIntegrationInput {
  @Field(() => String, { description: NAME })
  override name!: string;

  @Field(() => String, { description: TYPE })
  override type!: string;

  @Field(() => String, { description: CLIENT_ID })
  override clientId!: string;

  @Field(() => String, {
    nullable: true,
    description: `${CLIENT_SECRET}. Default: none, for a client that proves itself by PKCE alone.`,
  })
  override clientSecret?: string | null;

  @Rule(UUID_RULE)
  @Field(() => ID, {
    nullable: true,
    description:
      'Id of the only library that uses it (`embedded`), which requires `library:write` on the library. Default: none, so ' +
      'that all users of the tenant can use it.',
  })
  libraryId?: string | null;
}
