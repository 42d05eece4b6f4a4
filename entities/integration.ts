import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** See docs/contract/libraries.md#integrations. */
@ObjectType({
  description:
    'The registration of this service at a cloud drive, with which libraries connect. All users of the tenant may read it; ' +
    'one that belongs to a library is visible only to users who may read the library.',
  implements: Node,
})
@Entity()
export class Integration extends TenantRow {
  @Field(() => String, { description: 'Display name.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, { description: 'Provider: `google-drive`, `dropbox`, `onedrive` or `box`.' })
  @Property({ type: 'text' })
  type!: string;

  @Field(() => Boolean, { description: 'Whether it belongs to a single library.' })
  @Property({ type: 'boolean' })
  embedded: boolean = false;

  /** Id of its library. Null unless it is embedded. */
  @Property({ type: 'uuid', nullable: true })
  ownLibraryId?: string | null;

  @Field(() => ID, { nullable: true, description: 'Id of the user who created it; null after the user was deleted.' })
  @Property({ type: 'uuid', nullable: true })
  creatorId?: string | null;

  @Field(() => String, { description: 'How libraries connect: `oauth2`.' })
  @Property({ type: 'text' })
  authType: string = 'oauth2';

  @Field(() => String, { description: 'Id with which the provider knows this service.' })
  @Property({ type: 'text' })
  clientId!: string;

  /** The encrypted secret. Write-only in the API. Null for a client that proves itself by PKCE alone. */
  @Property({ type: 'text', nullable: true, lazy: true })
  sealedClientSecret?: string | null;

  @Field(() => String, { description: 'URL at which users authorize this service.' })
  @Property({ type: 'text' })
  authUri!: string;

  @Field(() => String, { description: 'URL that issues tokens.' })
  @Property({ type: 'text' })
  tokenUri!: string;

  @Field(() => String, { nullable: true, description: 'URL that revokes tokens; null if the provider has none.' })
  @Property({ type: 'text', nullable: true })
  revokeUri?: string | null;

  @Field(() => String, { description: 'Base of the URLs of the API, with its version.' })
  @Property({ type: 'text' })
  apiUri!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Base of the URLs of contents; null if it is the base of the API.',
  })
  @Property({ type: 'text', nullable: true })
  contentUri?: string | null;

  @Field(() => String, { description: 'Scopes that an authorization requests, separated by spaces.' })
  @Property({ type: 'text' })
  scope!: string;
}
