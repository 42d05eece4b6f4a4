import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

export const TokenScopeEnum = { READ: 'read', WRITE: 'write', DOCUMENTS: 'documents' } as const;
export type TokenScope = (typeof TokenScopeEnum)[keyof typeof TokenScopeEnum];
registerEnumType(TokenScopeEnum, {
  name: 'TokenScope',
  description: 'Scope of an API token.',
  valuesConfig: {
    READ: { description: 'Allows queries and subscriptions.' },
    WRITE: { description: 'Allows mutations.' },
    DOCUMENTS: {
      description: 'Allows reading clients, uploading their documents and setting their modes. Superusers only.',
    },
  },
});

/** A credential for programs. The secret is stored as its SHA-256. See docs/contract/access.md#tokens. */
@ObjectType({ description: 'A credential for programs. Its secret is returned once, on creation.', implements: Node })
@Entity()
export class ApiToken extends TenantRow {
  @Property({ type: 'uuid' })
  userId!: string;

  @Field(() => String, { description: 'Display name.' })
  @Property({ type: 'text' })
  name!: string;

  @Property({ type: 'text' })
  tokenHash!: string;

  @Field(() => String, { description: 'First eight characters of the secret, for recognition.' })
  @Property({ type: 'text' })
  prefix!: string;

  @Field(() => [TokenScopeEnum], {
    description:
      'Scopes: `read` allows queries and subscriptions, `write` allows mutations, `documents` the fields of clients.',
  })
  @Property({ type: 'json' })
  scopes: TokenScope[] = ['read', 'write'];

  @Field(() => String, {
    nullable: true,
    description: 'Name of the client that uses it, whose mode decides which documents of GraphQL it may run.',
  })
  @Property({ type: 'text', nullable: true })
  client?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Time of the last use, accurate to the minute.' })
  @Property({ type: 'timestamptz', nullable: true })
  lastUsedAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Expiry time. Null if the token does not expire.' })
  @Property({ type: 'timestamptz', nullable: true })
  expiresAt?: Date | null;
}

@ObjectType({ description: 'A created API token with its secret.' })
export class NewApiToken extends ApiToken {
  @Field(() => String, {
    description: 'Secret, for the header `Authorization: Bearer <secret>`. It is not returned again.',
  })
  token!: string;
}
