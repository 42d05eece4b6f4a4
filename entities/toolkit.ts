import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { OwnedRow } from './owned-row.ts';

@ObjectType({ description: 'Name and version of an MCP server.' })
export class ToolkitServerInfo {
  @Field(() => String, { description: 'Name of the server.' })
  name!: string;

  @Field(() => String, { description: 'Version of the server.' })
  version!: string;
}

/** See docs/contract/toolkits.md#toolkits. */
@ObjectType({ description: 'Tools for agents: tools of an MCP server, or tools that users define.', implements: Node })
@Entity()
export class Toolkit extends OwnedRow {
  @Field(() => String, { description: 'Id of the driver: `mcp-stdio`, `mcp-remote` or `custom`.' })
  @Property({ type: 'text' })
  type!: string;

  /** The settings of the driver, with `••••` in place of secrets. */
  @Property({ type: 'json' })
  config: Record<string, unknown> = {};

  /** The secrets as encrypted JSON: a list of `StoredSecret`. No API returns them. */
  @Property({ type: 'text', nullable: true, lazy: true })
  sealedSecrets?: string | null;

  @Field(() => ToolkitServerInfo, {
    nullable: true,
    description: 'Name and version of the server; null before discovery.',
  })
  @Property({ type: 'json', nullable: true })
  serverInfo?: ToolkitServerInfo | null;

  @Field(() => DateTime, { nullable: true, description: 'Time of the last discovery; null if there was none.' })
  @Property({ type: 'timestamptz', nullable: true })
  discoveredAt?: Date | null;

  @Field(() => Boolean, { description: 'Whether agents can use it.' })
  @Property({ type: 'boolean' })
  enabled: boolean = true;
}
