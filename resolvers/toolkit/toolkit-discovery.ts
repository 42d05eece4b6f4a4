import type { GraphQLResolveInfo } from 'graphql';
import { Ctx, Field, FieldResolver, Info, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { Toolkit, ToolkitServerInfo } from '../../entities/toolkit.ts';
import type { Context } from '../../src/core/context.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import { discoverToolkit } from '../../src/services/toolkit/toolkit-discovery.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

@ObjectType({ description: 'A tool as its server describes it.' })
class DiscoveredTool {
  @Field(() => String, { description: 'Name, unique at the server.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Description for agents.' })
  description!: string | null;

  @Field(() => JsonObject, { description: 'JSON Schema of its arguments.' })
  inputSchema!: Record<string, unknown>;
}

@ObjectType({ description: 'Differences to the discovery before, as names of tools.' })
class ToolkitDiff {
  @Field(() => [String], { description: 'New tools. After the first discovery they wait for approval.' })
  added!: string[];

  @Field(() => [String], { description: 'Tools that the server has no longer.' })
  removed!: string[];

  @Field(() => [String], {
    description: 'Tools with another description or schema. After the first discovery they wait for approval.',
  })
  changed!: string[];
}

@ObjectType({ description: 'Result of a discovery, which is stored.' })
class ToolkitDiscovery {
  toolkitId!: string;

  @Field(() => [DiscoveredTool], { description: 'Tools of the server, in its order.' })
  tools!: DiscoveredTool[];

  @Field(() => ToolkitServerInfo, { description: 'Name and version of the server.' })
  serverInfo!: ToolkitServerInfo;

  @Field(() => [String], {
    description: 'Tools that were left out, each with the reason: it violates the protocol or exceeds a limit.',
  })
  notes!: string[];

  @Field(() => ToolkitDiff, { description: 'Differences to the discovery before.' })
  diff!: ToolkitDiff;
}

@Resolver(() => ToolkitDiscovery)
export class ToolkitDiscoveryResolver {
  @Can('toolkit:write')
  @Mutation(() => ToolkitDiscovery, {
    description:
      'Asks the MCP server of a toolkit for its tools and stores them. The toolkit is of the type `mcp-remote`. This takes ' +
      'at most 30 seconds.',
  })
  discoverToolkit(@Ctx() ctx: Context, @Key('toolkit') id: string): Promise<ToolkitDiscovery> {
    return discoverToolkit(ctx, id);
  }

  @FieldResolver(() => Toolkit, { description: 'The toolkit after the discovery.' })
  toolkit(@Ctx() ctx: Context, @Root() { toolkitId }: ToolkitDiscovery, @Info() info: GraphQLResolveInfo) {
    return ctx.read.readAfterWrite(Toolkit, toolkitId, info);
  }
}
