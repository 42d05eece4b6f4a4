import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** See docs/contract/clients.md#manifests. */
@ObjectType({ description: 'A document of GraphQL that a client may run. Superusers only.', implements: Node })
@Entity()
export class ClientDocument extends TenantRow {
  @Property({ type: 'uuid' })
  clientId!: string;

  @Field(() => String, { description: 'Id in the manifest, which requests send as `documentId`.' })
  @Property({ type: 'text' })
  documentId!: string;

  @Field(() => String, { description: 'SHA-256 of the text in hexadecimal.' })
  @Property({ type: 'text' })
  sha256!: string;

  @Field(() => String, { nullable: true, description: 'Name of its first operation. Null if it has none.' })
  @Property({ type: 'text', nullable: true })
  name?: string | null;

  @Field(() => String, { description: 'Text of the document.' })
  @Property({ type: 'text' })
  text!: string;

  /** Whether it selects `__schema` or `__type`, which `ENFORCE` refuses. */
  @Property({ type: 'boolean' })
  readsSchema!: boolean;

  @Field(() => DateTime, { nullable: true, description: 'Time of the first request, accurate to six minutes.' })
  @Property({ type: 'timestamptz', nullable: true })
  firstSeenAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Time of the last request, accurate to six minutes.' })
  @Property({ type: 'timestamptz', nullable: true })
  lastSeenAt?: Date | null;
}
