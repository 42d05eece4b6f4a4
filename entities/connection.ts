import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import type { ConnectionAccount } from '../src/core/connection.ts';
import { DateTime } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** Keys are the names in GraphQL, values are the stored words. */
export const ConnectionStatusEnum = { CONNECTED: 'connected', EXPIRED: 'expired' } as const;
export type ConnectionStatus = (typeof ConnectionStatusEnum)[keyof typeof ConnectionStatusEnum];
registerEnumType(ConnectionStatusEnum, {
  name: 'ConnectionStatus',
  description: 'State of a connection.',
  valuesConfig: {
    CONNECTED: { description: 'Calls are authorized.' },
    EXPIRED: {
      description:
        'The provider refuses the refresh token, or issued none and the access token has ended. A user has to authorize again.',
    },
  },
});

/** See docs/contract/toolkits.md#connections. */
@ObjectType({
  description: 'The authorization by which a library or toolkit calls an outside service.',
  implements: Node,
})
@Entity()
export class Connection extends TenantRow {
  @Field(() => ID, { nullable: true, description: 'Id of its library; null for the connection of a toolkit.' })
  @Property({ type: 'uuid', nullable: true })
  libraryId?: string | null;

  @Field(() => ID, { nullable: true, description: 'Id of its toolkit; null for the connection of a library.' })
  @Property({ type: 'uuid', nullable: true })
  toolkitId?: string | null;

  @Field(() => ID, { description: 'Id of the user who authorized it.' })
  @Property({ type: 'uuid' })
  ownerId!: string;

  @Field(() => ID, { nullable: true, description: 'Id of the integration; null for a toolkit.' })
  @Property({ type: 'uuid', nullable: true })
  integrationId?: string | null;

  @Field(() => ConnectionStatusEnum, { description: 'Whether calls are authorized.' })
  @Enum({ items: () => Object.values(ConnectionStatusEnum), type: 'text' })
  status: ConnectionStatus = 'connected';

  /** The tokens as encrypted JSON (`ConnectionTokens`). No API returns them. */
  @Property({ type: 'text', lazy: true })
  sealedTokens!: string;

  /** Metadata of the authorization server and of this client, as encrypted JSON. Null for libraries. */
  @Property({ type: 'text', nullable: true, lazy: true })
  sealedClient?: string | null;

  /** The account at the provider as it was last seen. Null for toolkits. */
  @Property({ type: 'json', nullable: true })
  account?: ConnectionAccount | null;

  @Field(() => DateTime, { nullable: true, description: 'Time at which the access token ends; null if it is unknown.' })
  @Property({ type: 'timestamptz', nullable: true })
  tokenExpiresAt?: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Time at which the refresh token ends; null if it is unknown.',
  })
  @Property({ type: 'timestamptz', nullable: true })
  refreshTokenExpiresAt?: Date | null;

  @Field(() => DateTime, { description: 'Time at which a user last authorized it.' })
  @Property({ type: 'timestamptz' })
  lastAuthorizedAt!: Date;
}
