import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Dataset } from '../../entities/dataset.ts';
import { Visual } from '../../entities/visual.ts';
import type { Context } from '../../src/core/context.ts';
import { notFound } from '../../src/core/errors.ts';
import { levelAllows } from '../../src/core/permissions.ts';
import { Requires } from '../../src/core/read/model.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import { COMPONENTS } from '../../src/core/visual/component.ts';
import { TEMPLATES } from '../../src/core/visual/templates.ts';
import { VIEW_COLUMNS } from '../../src/services/dataset/dataset-view.ts';
import { accessLevel } from '../../src/services/resource/access-level.ts';
import { shownConfig } from '../../src/services/visual/visual-config.ts';
import { visualData, visualImage, type ShownVisual } from '../../src/services/visual/visual-data.ts';
import * as visuals from '../../src/services/visual/visual.ts';
import { DatasetAggregate } from '../dataset/dataset-data-types.ts';
import { Id, Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import {
  CreateVisualInput,
  UpdateVisualInput,
  VisualComponentType,
  VisualDataArgs,
  VisualImageArgs,
  VisualPermissions,
  VisualTemplateType,
} from './visual-types.ts';

/** What the view of a visual's dataset is made from. */
const SHOWN = ['component', 'config', ...VIEW_COLUMNS.map((column) => `dataset.${column}`)];
const OWNED = ['dataset.id', 'dataset.ownerId', 'dataset.parent.id', 'dataset.parent.ownerId'];

@Resolver(() => Dataset)
export class DatasetVisualResolver {
  @FieldResolver(() => [Visual], { description: 'Its charts and tables: pinned ones first, then by position.' })
  visuals(
    @Ctx() ctx: Context,
    @Root() dataset: { id: string },
    @Info() info: GraphQLResolveInfo,
    @Arg('pinned', () => Boolean, { nullable: true, description: 'Only pinned ones.' }) pinned?: boolean,
  ) {
    return ctx.read.children(Dataset, 'visuals', dataset, info, {}, pinned ? { pinned } : undefined);
  }

  @FieldResolver(() => Visual, { description: 'One of its charts and tables.' })
  async visual(
    @Ctx() ctx: Context,
    @Root() dataset: { id: string },
    @Id('visual') id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    const visual = await ctx.read.find(Visual, { id, datasetId: dataset.id }, info);
    if (!visual) throw notFound({ what: 'visual', id });
    return visual;
  }

  @FieldResolver(() => [VisualTemplateType], { description: 'Visuals to begin with.' })
  visualTemplates() {
    return TEMPLATES;
  }
}

@Resolver(() => Visual)
export class VisualResolver {
  @Can('authenticated')
  @Query(() => [VisualComponentType], { description: 'What visuals can be drawn as.' })
  visualComponents() {
    return COMPONENTS;
  }

  @Can('dataset:addVisual')
  @Mutation(() => Visual, { description: 'Adds a chart or table to a dataset, at most 200.' })
  async createVisual(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Arg('input', { description: 'The new visual.' }) input: CreateVisualInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Visual, await visuals.create(ctx, datasetId, input), info);
  }

  @Can('dataset:addVisual')
  @Mutation(() => Visual, { description: 'Changes a chart or table.' })
  async updateVisual(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Id('visual') id: string,
    @Arg('input', { description: 'What changes.' }) input: UpdateVisualInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Visual, await visuals.update(ctx, datasetId, id, input), info);
  }

  @Can('dataset:deleteVisual')
  @Mutation(() => ID, { description: 'Deletes a chart or table; answers its id as given.' })
  async deleteVisual(@Ctx() ctx: Context, @Key('dataset', 'datasetId') datasetId: string, @Id('visual') id: string) {
    await visuals.remove(ctx, datasetId, id);
    return id;
  }

  @Requires(...SHOWN)
  @FieldResolver(() => JsonObject, {
    description:
      'What it shows and how: keys of the component’s JSON Schema. What names a field that is hidden from the caller is null.',
  })
  config(@Ctx() ctx: Context, @Root() { dataset, component, config }: ShownVisual) {
    return shownConfig(ctx, dataset, component, config);
  }

  @Requires(...OWNED)
  @FieldResolver(() => VisualPermissions, { description: 'What the caller may do to it.' })
  async permissions(@Ctx() ctx: Context, @Root() { dataset }: ShownVisual): Promise<VisualPermissions> {
    const level = await accessLevel(ctx, dataset);
    return { edit: levelAllows(level, 'dataset:addVisual'), delete: levelAllows(level, 'dataset:deleteVisual') };
  }

  @Requires('datasetId')
  @FieldResolver(() => String, { description: 'Path of its picture on this service.' })
  imageUrl(@Root() { id, datasetId }: { id: string; datasetId: string }): string {
    return `/api/datasets/${datasetId}/visuals/${id}/image.svg`;
  }

  @Requires(...SHOWN)
  @FieldResolver(() => DatasetAggregate, {
    description:
      'Its numbers: groups and a measure of each, or the rows of a table or scatter plot. An error names the key of its config that is missing.',
  })
  data(@Ctx() ctx: Context, @Root() visual: ShownVisual, @Args(() => VisualDataArgs) args: VisualDataArgs) {
    return visualData(ctx, visual, args);
  }

  @Requires('name', ...SHOWN)
  @FieldResolver(() => String, { description: 'Its picture, as SVG.' })
  image(@Ctx() ctx: Context, @Root() visual: ShownVisual, @Args(() => VisualImageArgs) args: VisualImageArgs) {
    return visualImage(ctx, visual, args);
  }
}
