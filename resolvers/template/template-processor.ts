import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, Info, Mutation, Resolver, Root } from 'type-graphql';
import { TemplateProcessorInput } from '../../entities/template-processor-input.ts';
import { TemplateProcessor } from '../../entities/template-processor.ts';
import { Template } from '../../entities/template.ts';
import type { Context } from '../../src/core/context.ts';
import { Rule } from '../../src/core/input-rules.ts';
import { MAX_PARTS } from '../../src/services/template/template-data-names.ts';
import { setProcessors } from '../../src/services/template/template-processor.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs } from '../support/page.ts';

@Resolver(() => Template)
export class TemplateProcessorResolver {
  @FieldResolver(() => [TemplateProcessor], {
    description: 'Data sources of renderings, in the order in which they are read, with the access of the caller.',
  })
  processors(
    @Ctx() ctx: Context,
    @Root() template: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(Template, 'processors', template, info, page);
  }

  @Can('template:write')
  @Mutation(() => [TemplateProcessor], {
    description:
      'Replaces all processors of a template or draft. An item with the `id`, or without one the name, of a processor ' +
      'changes it; processors that no item names are deleted.',
  })
  async setTemplateProcessors(
    @Ctx() ctx: Context,
    @Key('template', 'templateId') templateId: string,
    @Arg('processors', () => [TemplateProcessorInput], { description: 'All processors, in order, at most 50.' })
    @Rule({ maxItems: MAX_PARTS })
    processors: TemplateProcessorInput[],
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.list(
      TemplateProcessor,
      info,
      { templateId: await setProcessors(ctx, templateId, processors) },
      page,
    );
  }
}
