import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, Field, FieldResolver, Info, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { Operation } from '../../entities/operation.ts';
import { RenderTemplateInput } from '../../entities/render-template-input.ts';
import { Rendition } from '../../entities/rendition.ts';
import type { Context } from '../../src/core/context.ts';
import { render, type StartedRendering } from '../../src/services/template/render-start.ts';
import { CONTENT_COLUMNS, sendRendition } from '../../src/services/template/rendition.ts';
import { OperationArgs } from '../operation/operation-arguments.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

@ObjectType({ description: 'A rendering: its operation and, if the call waited, the document.' })
class RenderTemplatePayload {
  @Field(() => Operation, {
    nullable: true,
    description: 'Status and progress. Null for a preview without `progress` for which the call waited.',
  })
  operation!: Operation | null;
}

@Resolver(() => RenderTemplatePayload)
export class RenderTemplateResolver {
  @Can('template:read')
  @Mutation(() => RenderTemplatePayload, {
    description:
      'Renders a document from a template or a draft, with the data that the caller may read. A mistake in the template ' +
      'is `BAD_USER_INPUT` with its place in `validation`.',
  })
  renderTemplate(
    @Ctx() ctx: Context,
    @Key('template', 'templateId') templateId: string,
    @Args(() => OperationArgs) { wait, progress }: OperationArgs,
    @Arg('input', () => RenderTemplateInput, { nullable: true, description: 'Input of the rendering.' })
    input?: RenderTemplateInput | null,
  ): Promise<StartedRendering> {
    return render(ctx, templateId, input ?? {}, progress, wait);
  }

  @FieldResolver(() => Rendition, {
    nullable: true,
    description: 'The document; null if the call did not wait, and once it has expired.',
  })
  async result(@Ctx() ctx: Context, @Root() { result }: StartedRendering, @Info() info: GraphQLResolveInfo) {
    if (!result) return null;
    if (ctx.sendFile) await sendRendition(ctx, await ctx.read.one(Rendition, result.id, CONTENT_COLUMNS));
    return ctx.read.find(Rendition, result.id, info);
  }
}
