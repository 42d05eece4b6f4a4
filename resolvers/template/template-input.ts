import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, Info, Mutation, Resolver, Root } from 'type-graphql';
import { TemplateInputInput } from '../../entities/template-input-input.ts';
import { TemplateInput } from '../../entities/template-input.ts';
import { Template } from '../../entities/template.ts';
import type { Context } from '../../src/core/context.ts';
import { Rule } from '../../src/core/input-rules.ts';
import { MAX_PARTS } from '../../src/services/template/template-data-names.ts';
import { setInputs } from '../../src/services/template/template-input.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs } from '../support/page.ts';

@Resolver(() => Template)
export class TemplateInputResolver {
  @FieldResolver(() => [TemplateInput], { description: 'Values that a rendering gets as `params`, in order.' })
  inputs(
    @Ctx() ctx: Context,
    @Root() template: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(Template, 'inputs', template, info, page);
  }

  @Can('template:write')
  @Mutation(() => [TemplateInput], {
    description:
      'Replaces all inputs of a template or draft. An item with the `id`, or without one the name, of an input changes it; ' +
      'inputs that no item names are deleted.',
  })
  async setTemplateInputs(
    @Ctx() ctx: Context,
    @Key('template', 'templateId') templateId: string,
    @Arg('inputs', () => [TemplateInputInput], { description: 'All inputs, in order, at most 50.' })
    @Rule({ maxItems: MAX_PARTS })
    inputs: TemplateInputInput[],
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.list(TemplateInput, info, { templateId: await setInputs(ctx, templateId, inputs) }, page);
  }
}
