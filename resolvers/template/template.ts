import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import { TEMPLATE } from '../../entities/owned-kinds.ts';
import { CreateTemplateInput, UpdateTemplateInput } from '../../entities/template-changes-input.ts';
import { Template } from '../../entities/template.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import { UuidField } from '../../src/core/uuid-field.ts';
import { resolveListArguments } from '../../src/services/resource/resolve-ids.ts';
import * as templates from '../../src/services/template/template.ts';
import { ownedFields } from '../resource/owned.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { OwnedPageArgs, pageOf } from '../support/page.ts';
import { loadById } from '../support/relation-fields.ts';

const TemplatePage = pageOf(Template, 'Template');
/** Drafts are found below their template only. */
const NO_DRAFTS = { sql: 'parent_id is null', params: [] };

export const TemplateOwnedFields = ownedFields(TEMPLATE);

@Resolver(() => Template)
export class TemplateResolver {
  @Can('authenticated')
  @Query(() => Template, { nullable: true, description: 'Returns a template or a draft.' })
  template(@Ctx() ctx: Context, @Key('template') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Template, id, info);
  }

  @Can('authenticated')
  @Query(() => TemplatePage, { description: 'Lists the templates that the caller may read, without drafts.' })
  async templates(
    @Ctx() ctx: Context,
    @Args(() => OwnedPageArgs) page: OwnedPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.page(Template, await resolveListArguments(ctx, page), info, NO_DRAFTS);
  }

  @Can('templates:create')
  @Mutation(() => Template, { description: 'Creates a template. It has no files yet.' })
  async createTemplate(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new template.' }) input: CreateTemplateInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Template, await templates.create(ctx, input), info);
  }

  @Can('template:write')
  @Mutation(() => Template, { description: 'Updates a template or a draft.' })
  async updateTemplate(
    @Ctx() ctx: Context,
    @Key('template') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateTemplateInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Template, await templates.update(ctx, id, input), info);
  }

  @Can('template:delete')
  @Mutation(() => ID, {
    description:
      'Deletes a template with its files and its draft. Everyone who may change the template may delete its draft. ' +
      'Returns the `id` argument.',
  })
  async deleteTemplate(@Ctx() ctx: Context, @Key('template') id: string) {
    await templates.remove(ctx, id);
    return id;
  }

  @Requires('parentId')
  @UuidField()
  @FieldResolver(() => ID, { nullable: true, description: 'Template that this is the draft of; null for a template.' })
  editingId(@Root() { parentId }: Pick<Template, 'parentId'>) {
    return parentId;
  }

  @Requires('parentId')
  @FieldResolver(() => Template, {
    nullable: true,
    description: 'The template that this is the draft of; null for a template.',
  })
  editing(@Ctx() ctx: Context, @Root() template: { parentId: string | null }, @Info() info: GraphQLResolveInfo) {
    return loadById(ctx, Template, template.parentId, info);
  }
}
