import { Args, Ctx, Field, ID, ObjectType, Query, Resolver } from 'type-graphql';
import type { Context } from '../../src/core/context.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, partOf } from '../support/page.ts';

@ObjectType({ description: 'An output handler of a template engine.' })
class TemplateHandlerDescription {
  @Field(() => ID, { description: 'The `handler` of its templates, e.g. `pdf`.' })
  id!: string;

  @Field(() => String, { description: 'Display name.' })
  name!: string;

  @Field(() => String, { description: 'Media type of the documents.' })
  contentType!: string;

  @Field(() => JsonObject, { description: 'JSON Schema of the `handlerOptions` of its templates.' })
  optionsSchema!: Record<string, unknown>;
}

@ObjectType({ description: 'A template engine.' })
class TemplateDriver {
  @Field(() => ID, { description: 'The `type` of its templates, e.g. `nunjucks`.' })
  id!: string;

  @Field(() => String, { description: 'Display name.' })
  name!: string;

  @Field(() => String, { description: 'Description.' })
  description!: string;

  @Field(() => [String], { description: 'Extensions of its TEMPLATE files, without a dot.' })
  extensions!: readonly string[];

  @Field(() => [TemplateHandlerDescription], { description: 'Output handlers. The first is the default.' })
  handlers!: readonly TemplateHandlerDescription[];
}

@Resolver()
export class TemplateDriverResolver {
  @Can('authenticated')
  @Query(() => [TemplateDriver], { description: 'Lists the template engines with their output handlers.' })
  templateDrivers(@Ctx() ctx: Context, @Args(() => ChildPageArgs) page: ChildPageArgs) {
    return partOf(ctx, [...ctx.platform.templateEngines.values()], page);
  }
}
