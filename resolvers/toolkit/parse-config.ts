import { Arg, Field, ObjectType, Query, Resolver } from 'type-graphql';
import { Json, JsonObject } from '../../src/core/scalars.ts';
import {
  parseToolkitConfig,
  type NormalizedConfig,
  type ParsedConfig,
  type ParsedServer,
} from '../../src/services/toolkit/parse-config.ts';
import { Can } from '../support/guard.ts';

@ObjectType('NormalizedToolkitConfig', { description: 'Type and settings of a toolkit.' })
class NormalizedToolkitConfig implements NormalizedConfig {
  @Field(() => String, { description: '`mcp-stdio` or `mcp-remote`.' })
  type!: NormalizedConfig['type'];

  @Field(() => JsonObject, { description: 'Settings of the toolkit.' })
  config!: Record<string, unknown>;
}

@ObjectType('ParsedToolkitServer', { description: 'A server that a configuration describes.' })
class ParsedToolkitServer extends NormalizedToolkitConfig implements ParsedServer {
  @Field(() => String, { description: 'Name in the configuration, or else the host, the package or the program.' })
  name!: string;
}

@ObjectType('ParsedToolkitConfig', { description: 'The servers that a configuration describes.' })
class ParsedToolkitConfig implements ParsedConfig {
  @Field(() => NormalizedToolkitConfig, { description: 'The first server.' })
  normalized!: NormalizedConfig;

  @Field(() => [ParsedToolkitServer], {
    description: 'All servers, in order; servers that the configuration disables are last.',
  })
  servers!: ParsedServer[];
}

@Resolver()
export class ParseToolkitConfigResolver {
  @Can('authenticated')
  @Query(() => ParsedToolkitConfig, {
    description:
      'Returns type and settings of the MCP servers in a configuration of another client: its file or one server as JSON, ' +
      'a command, or a URL. Nothing is stored, called or started.',
  })
  parseToolkitConfig(
    @Arg('config', () => Json, { description: 'A text or an object, at most 64 KiB.' }) config: unknown,
  ): ParsedConfig {
    return parseToolkitConfig(config);
  }
}
