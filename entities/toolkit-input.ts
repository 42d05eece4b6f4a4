import { Field, InputType } from 'type-graphql';
import { Rule, textRule } from '../src/core/input-rules.ts';
import { MAX_TOOLS } from '../src/core/mcp.ts';
import { JsonObject } from '../src/core/scalars.ts';
import { UpdateOwnedInput } from './owned-input.ts';

@InputType({ description: 'Name and version of an MCP server, as a client has found them.' })
export class ToolkitServerInfoInput {
  @Rule(textRule(255))
  @Field(() => String, { description: 'Name of the server.' })
  name!: string;

  @Rule(textRule(255))
  @Field(() => String, { description: 'Version of the server.' })
  version!: string;
}

@InputType({ description: 'A tool that a client has found on an MCP server.' })
export class ToolkitToolInput {
  @Field(() => String, { description: 'Name, unique in the list, at most 128 characters.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Description for agents, at most 8 KiB.' })
  description?: string | null;

  @Field(() => JsonObject, {
    nullable: true,
    description: 'JSON Schema of its arguments, at most 64 KiB as JSON and 100 levels deep.',
  })
  inputSchema?: Record<string, unknown> | null;
}

@InputType({ description: 'Changes to a toolkit. Absent keys are unchanged, and null clears a value.' })
export class UpdateToolkitInput extends UpdateOwnedInput {
  @Rule({ notNull: true })
  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Settings as defined by the JSON Schema of the driver (`toolkitDrivers`). Replaces all previous settings. A secret ' +
      'with the value `••••` is unchanged. Secrets are required again when their recipient changes: the command or its ' +
      'arguments, the URL of a remote server, or scheme, host or port of the URL of a custom tool.',
  })
  config?: Record<string, unknown> | null;

  @Rule({ notNull: true })
  @Field(() => Boolean, { nullable: true, description: 'Whether agents can use it. On creation, true by default.' })
  enabled?: boolean | null;

  @Rule({ notNull: true, maxItems: MAX_TOOLS })
  @Field(() => [ToolkitToolInput], {
    nullable: true,
    description:
      `All tools of the server, which a client of the driver \`mcp-stdio\` has found, at most ${MAX_TOOLS}. Ignored for ` +
      'other drivers.',
  })
  tools?: ToolkitToolInput[];

  @Field(() => ToolkitServerInfoInput, {
    nullable: true,
    description: 'The server that a client of the driver `mcp-stdio` has found. Ignored for other drivers.',
  })
  serverInfo?: ToolkitServerInfoInput | null;
}

@InputType({ description: 'A new toolkit.' })
export class CreateToolkitInput extends UpdateToolkitInput {
  @Field(() => String, { description: 'Display name.' })
  override name!: string;

  @Field(() => String, { description: 'Id of the driver: `mcp-stdio`, `mcp-remote` or `custom`.' })
  type!: string;

  @Field(() => JsonObject, { description: 'Settings as defined by the JSON Schema of the driver.' })
  override config!: Record<string, unknown>;
}
