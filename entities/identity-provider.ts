import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** See docs/contract/access.md#identity-providers. */
@ObjectType({
  description: 'An OpenID Connect provider that authenticates the users of a domain. Superusers only, in a session.',
  implements: Node,
})
@Entity()
export class IdentityProvider extends TenantRow {
  @Field(() => String, { description: 'Domain of the users that it authenticates. Compared without case.' })
  @Property({ type: 'text' })
  domain!: string;

  @Field(() => String, { description: 'Display name, e.g. on the login page.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, {
    description:
      'URL of the issuer, below which the provider publishes its configuration. A change unlinks all users from their ' +
      'accounts at the provider.',
  })
  @Property({ type: 'text' })
  issuer!: string;

  @Field(() => String, { description: 'Id with which the provider knows this service.' })
  @Property({ type: 'text' })
  clientId!: string;

  /** The encrypted secret. Write-only in the API. Null for a client that proves itself by PKCE alone. */
  @Property({ type: 'text', nullable: true, lazy: true })
  sealedClientSecret?: string | null;

  @Field(() => String, { description: 'Scopes that a login requests, separated by spaces.' })
  @Property({ type: 'text' })
  scope: string = 'openid profile email';

  @Field(() => String, { description: 'Claim with the username.' })
  @Property({ type: 'text' })
  usernameClaim: string = 'preferred_username';

  @Field(() => Boolean, { description: 'Whether a login creates a user who does not exist yet.' })
  @Property({ type: 'boolean' })
  createUsers: boolean = false;

  @Field(() => [String], {
    description: 'Domains of e-mail addresses that new users may have. Empty: all domains.',
  })
  @Property({ type: 'json' })
  emailDomains: string[] = [];

  @Field(() => [ID], { description: 'Ids of the teams that new users join.' })
  @Property({ type: 'json' })
  teamIds: string[] = [];

  @Field(() => Boolean, {
    description: 'Whether users can log in with it. Users of its domain then cannot log in with a password.',
  })
  @Property({ type: 'boolean' })
  enabled: boolean = true;
}
