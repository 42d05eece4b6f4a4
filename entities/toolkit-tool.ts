import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { JsonObject } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** See docs/contract/toolkits.md#tools. */
@ObjectType({ description: 'A tool of a toolkit.', implements: Node })
@Entity()
export class ToolkitTool extends TenantRow {
  @Field(() => ID, { description: 'Id of the toolkit.' })
  @Property({ type: 'uuid' })
  toolkitId!: string;

  @Field(() => Int, { description: 'Place in the list of the server, from 0 on.' })
  @Property({ type: 'integer' })
  position!: number;

  @Field(() => String, { description: 'Name, unique in the toolkit.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Description for agents.' })
  @Property({ type: 'text', nullable: true })
  description?: string | null;

  @Field(() => JsonObject, { description: 'JSON Schema of its arguments.' })
  @Property({ type: 'json' })
  inputSchema: Record<string, unknown> = {};

  @Field(() => Boolean, { description: 'Whether agents may call it.' })
  @Property({ type: 'boolean' })
  approved: boolean = false;

  @Field(() => ID, { nullable: true, description: 'Id of the saved query that it runs; null if it runs none.' })
  @Property({ type: 'uuid', nullable: true })
  queryId?: string | null;
}
