import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, Info, Mutation, Resolver, Root } from 'type-graphql';
import { ToolkitTool } from '../../entities/toolkit-tool.ts';
import { Toolkit } from '../../entities/toolkit.ts';
import type { Context } from '../../src/core/context.ts';
import { Rule } from '../../src/core/input-rules.ts';
import { MAX_TOOLS } from '../../src/core/mcp.ts';
import { approveTools } from '../../src/services/toolkit/toolkit-tool.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs } from '../support/page.ts';

@Resolver(() => Toolkit)
export class ToolkitToolResolver {
  @FieldResolver(() => [ToolkitTool], { description: 'Its tools, in the order of the server.' })
  tools(
    @Ctx() ctx: Context,
    @Root() toolkit: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(Toolkit, 'tools', toolkit, info, page);
  }

  @Can('toolkit:write')
  @Mutation(() => [ToolkitTool], {
    description: 'Approves tools of a toolkit, which agents may then call. Returns all its tools.',
  })
  async approveToolkitTools(
    @Ctx() ctx: Context,
    @Key('toolkit', 'toolkitId') toolkitId: string,
    @Arg('names', () => [String], {
      nullable: true,
      description: 'Names of the tools. Default: all tools of the toolkit.',
    })
    @Rule({ maxItems: MAX_TOOLS })
    names: string[] | null,
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.list(ToolkitTool, info, { toolkitId: await approveTools(ctx, toolkitId, names ?? null) }, page);
  }
}
