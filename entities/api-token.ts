import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';
import { TenantRow } from './tenant-row.ts';

/** A credential for programs (contract 2). The secret is shown once and kept as SHA-256. */
@ObjectType({ description: 'A credential for programs. Its secret is shown once, when it is made.' })
@Entity()
export class ApiToken extends TenantRow {
  @Property({ type: 'uuid' })
  userId!: string;

  @Field(() => String, { description: 'What it is for.' })
  @Property({ type: 'text' })
  name!: string;

  @Property({ type: 'text' })
  tokenHash!: string;

  @Field(() => String, { description: 'The first characters of the secret, to recognise it by.' })
  @Property({ type: 'text' })
  prefix!: string;

  @Field(() => [String], { description: '`read` allows queries, `write` mutations.' })
  @Property({ type: 'json' })
  scopes: string[] = ['read', 'write'];

  @Field(() => DateTime, { nullable: true, description: 'When it was last used, to the minute.' })
  @Property({ type: 'timestamptz', nullable: true })
  lastUsedAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it ends; null for never.' })
  @Property({ type: 'timestamptz', nullable: true })
  expiresAt?: Date | null;
}
