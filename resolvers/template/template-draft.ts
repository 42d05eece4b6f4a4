import type { GraphQLResolveInfo } from 'graphql';
import { Ctx, FieldResolver, ID, Info, Mutation, Resolver, Root } from 'type-graphql';
import { Template } from '../../entities/template.ts';
import type { Context } from '../../src/core/context.ts';
import * as drafts from '../../src/services/template/template-draft.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

@Resolver(() => Template)
export class TemplateDraftResolver {
  @Can('template:write')
  @Mutation(() => Template, {
    description:
      'Returns the draft of a template. All users share it. If there is none, creates it as a copy with ' +
      'files, inputs and processors. A draft is a template that no list contains. All users who may read or change the template may ' +
      'do so with the draft.',
  })
  async editTemplate(@Ctx() ctx: Context, @Key('template') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.readAfterWrite(Template, await drafts.edit(ctx, id), info);
  }

  @Can('template:write')
  @Mutation(() => Template, {
    description:
      'Commits the draft of a template. Fields, files, inputs and processors of the draft replace the former ones, ' +
      'and the draft is deleted. Parts that were copied from the template keep their original ids. Takes the id of the ' +
      'template and returns the template.',
  })
  async commitTemplateDraft(@Ctx() ctx: Context, @Key('template') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.readAfterWrite(Template, await drafts.commit(ctx, id), info);
  }

  @Can('template:write')
  @Mutation(() => ID, { description: 'Deletes the draft of a template. Returns the `id` argument.' })
  async deleteTemplateDraft(@Ctx() ctx: Context, @Key('template') id: string) {
    await drafts.remove(ctx, id);
    return id;
  }

  @FieldResolver(() => Template, { nullable: true, description: 'Draft of the template; null if there is none.' })
  async draft(@Ctx() ctx: Context, @Root() template: { id: string }, @Info() info: GraphQLResolveInfo) {
    const [draft] = await ctx.read.children<Template>(Template, 'drafts', template, info);
    return draft ?? null;
  }

  @FieldResolver(() => Boolean, {
    description:
      'Drafts only: whether the template, its files, inputs or processors have changed since the draft was created. False ' +
      'for other templates.',
  })
  stale(@Root() { stale }: { stale: boolean }): boolean {
    return stale;
  }
}
