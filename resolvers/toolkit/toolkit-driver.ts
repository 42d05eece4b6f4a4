import { Args, Ctx, Field, ID, ObjectType, Query, Resolver } from 'type-graphql';
import type { Context } from '../../src/core/context.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import { TOOLKIT_DRIVERS, type ToolkitDriver } from '../../src/services/toolkit/toolkit-driver.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, partOf } from '../support/page.ts';

@ObjectType('ToolkitDriver', { description: 'A driver of toolkits.' })
class ToolkitDriverType implements ToolkitDriver {
  @Field(() => ID, { description: 'The `type` of its toolkits: `mcp-stdio`, `mcp-remote` or `custom`.' })
  id!: ToolkitDriver['id'];

  @Field(() => String, { description: 'Display name.' })
  name!: string;

  @Field(() => String, { description: 'Description.' })
  description!: string;

  @Field(() => JsonObject, { description: 'JSON Schema of the `config` of its toolkits.' })
  configSchema!: Record<string, unknown>;
}

@Resolver()
export class ToolkitDriverResolver {
  @Can('authenticated')
  @Query(() => [ToolkitDriverType], { description: 'Lists the drivers of toolkits.' })
  toolkitDrivers(@Ctx() ctx: Context, @Args(() => ChildPageArgs) page: ChildPageArgs) {
    return partOf(ctx, TOOLKIT_DRIVERS, page);
  }
}
