import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql';
import { Rendition } from '../../entities/rendition.ts';
import { Template } from '../../entities/template.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { Requires } from '../../src/core/read/model.ts';
import { CONTENT_COLUMNS, readText, sendRendition } from '../../src/services/template/rendition.ts';
import { Id } from '../support/arguments.ts';
import { ChildPageArgs } from '../support/page.ts';
import { ReadsAllRows } from '../support/reads-all-rows.ts';

@Resolver(() => Template)
export class TemplateRenditionsResolver {
  @FieldResolver(() => [Rendition], {
    description: 'Documents that the caller has rendered and that are kept, latest first.',
  })
  renditions(
    @Ctx() ctx: Context,
    @Root() template: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(Template, 'renditions', template, info, page);
  }

  @FieldResolver(() => Rendition, {
    nullable: true,
    description: 'A document that the caller has rendered, by its id.',
  })
  async rendition(
    @Ctx() ctx: Context,
    @Root() { id: templateId }: { id: string },
    @Id('rendition', 'renditionId') id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    const key = { id, templateId };
    const rendition = await ctx.read.find(Rendition, key, info);
    if (!rendition) throw notFound({ what: 'rendition', id });
    if (ctx.sendFile) await sendRendition(ctx, await ctx.read.one(Rendition, key, CONTENT_COLUMNS));
    return rendition;
  }
}

@Resolver(() => Rendition)
export class RenditionResolver {
  @Requires('templateId')
  @FieldResolver(() => String, { description: 'Path of the contents.' })
  contentsUrl(@Root() { id, templateId }: Pick<Rendition, 'id' | 'templateId'>): string {
    return `/api/templates/${templateId}/renditions/${id}/contents`;
  }

  @ReadsAllRows()
  @Requires(...CONTENT_COLUMNS)
  @FieldResolver(() => String, {
    nullable: true,
    description: 'The document as text, at most 5 MB in a request; null for binary formats.',
  })
  text(@Ctx() ctx: Context, @Root() rendition: Parameters<typeof readText>[1]): Promise<string | null> {
    return readText(ctx, rendition);
  }
}
