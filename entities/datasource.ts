import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { JsonObject } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { OwnedRow } from './owned-row.ts';

/** A database or file that queries read (contract 5). */
@ObjectType({ description: 'A database or file that queries read.', implements: Node })
@Entity()
export class Datasource extends OwnedRow {
  @Field(() => String, { description: 'Id of its driver, e.g. `postgres`.' })
  @Property({ type: 'text' })
  type!: string;

  @Field(() => JsonObject, {
    description: 'Where it is: host, port, database, user and what else the driver’s JSON Schema names. No secrets.',
  })
  @Property({ type: 'json' })
  config: Record<string, unknown> = {};

  /** Encrypted JSON of the secrets; write-only. */
  @Property({ type: 'text', nullable: true, lazy: true })
  secrets?: string | null;

  /** The uploaded file that it is; null for servers. */
  @Property({ type: 'uuid', nullable: true })
  fileId?: string | null;

  @Field(() => Boolean, { description: 'Whether the service made it by itself, e.g. for an app or an upload.' })
  @Property({ type: 'boolean' })
  embedded: boolean = false;
}
