import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Dataset } from '../../entities/dataset.ts';
import { CreateVisualInput, UpdateVisualInput, VisualDataArgs, VisualImageArgs } from '../../entities/visual-input.ts';
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
import { configForViewer } from '../../src/services/visual/visual-config.ts';
import { loadVisualData, renderVisual, type VisualWithDataset } from '../../src/services/visual/visual-data.ts';
import * as visuals from '../../src/services/visual/visual.ts';
import { DatasetAggregate } from '../dataset/dataset-data-types.ts';
import { Id, Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, partOf } from '../support/page.ts';
import { ReadsAllRows } from '../support/reads-all-rows.ts';
import { VisualComponentType, VisualPermissions, VisualTemplateType } from './visual-types.ts';

/** Columns of `VisualWithDataset`. */
const DATA_COLUMNS = ['component', 'config', ...VIEW_COLUMNS.map((column) => `dataset.${column}`)];
/** Columns for the viewer's access level. */
const ACCESS_COLUMNS = ['dataset.id', 'dataset.ownerId', 'dataset.parent.id', 'dataset.parent.ownerId'];

@Resolver(() => Dataset)
export class DatasetVisualResolver {
  @FieldResolver(() => [Visual], {
    description: 'Charts and tables of the dataset: pinned ones first, then by position.',
  })
  visuals(
    @Ctx() ctx: Context,
    @Root() dataset: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
    @Arg('pinned', () => Boolean, { nullable: true, description: 'Returns only pinned visuals if true.' })
    pinned?: boolean,
  ) {
    return ctx.read.children(Dataset, 'visuals', dataset, info, page, pinned ? { pinned } : undefined);
  }

  @FieldResolver(() => Visual, { nullable: true, description: 'A chart or table of the dataset.' })
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

  @FieldResolver(() => [VisualTemplateType], { description: 'Templates for new visuals, equal for all datasets.' })
  visualTemplates() {
    return TEMPLATES;
  }
}

@Resolver(() => Visual)
export class VisualResolver {
  @Can('authenticated')
  @Query(() => [VisualComponentType], { description: 'Lists the chart types.' })
  visualComponents(@Ctx() ctx: Context, @Args(() => ChildPageArgs) page: ChildPageArgs) {
    return partOf(ctx, COMPONENTS, page);
  }

  @Can('dataset:addVisual')
  @Mutation(() => Visual, { description: 'Creates a chart or table of a dataset, which has at most 200.' })
  async createVisual(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Arg('input', { description: 'The new visual.' }) input: CreateVisualInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Visual, await visuals.create(ctx, datasetId, input), info);
  }

  @Can('dataset:addVisual')
  @Mutation(() => Visual, { description: 'Updates a chart or table.' })
  async updateVisual(
    @Ctx() ctx: Context,
    @Key('dataset', 'datasetId') datasetId: string,
    @Id('visual') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateVisualInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Visual, await visuals.update(ctx, datasetId, id, input), info);
  }

  @Can('dataset:deleteVisual')
  @Mutation(() => ID, { description: 'Deletes a chart or table. Returns the `id` argument.' })
  async deleteVisual(@Ctx() ctx: Context, @Key('dataset', 'datasetId') datasetId: string, @Id('visual') id: string) {
    await visuals.remove(ctx, datasetId, id);
    return id;
  }

  @Requires(...DATA_COLUMNS)
  @FieldResolver(() => JsonObject, {
    description:
      'Settings: keys of the component’s JSON Schema. ' +
      'A key is null, and an item of a list is left out, when it names a field that is hidden from the caller.',
  })
  config(@Ctx() ctx: Context, @Root() { dataset, component, config }: VisualWithDataset) {
    return configForViewer(ctx, dataset, component, config);
  }

  @Requires(...ACCESS_COLUMNS)
  @FieldResolver(() => VisualPermissions, { description: 'The caller’s permissions.' })
  async permissions(@Ctx() ctx: Context, @Root() { dataset }: VisualWithDataset): Promise<VisualPermissions> {
    const level = await accessLevel(ctx, dataset);
    return { edit: levelAllows(level, 'dataset:addVisual'), delete: levelAllows(level, 'dataset:deleteVisual') };
  }

  @Requires('datasetId')
  @FieldResolver(() => String, { description: 'Path of the SVG image on this service.' })
  imageUrl(@Root() { id, datasetId }: { id: string; datasetId: string }): string {
    return `/api/datasets/${datasetId}/visuals/${id}/image.svg`;
  }

  @ReadsAllRows()
  @Requires(...DATA_COLUMNS)
  @FieldResolver(() => DatasetAggregate, {
    description:
      'Data of the visual: groups with a measure, or the rows of a table or scatter plot. ' +
      'Fails with `BAD_USER_INPUT` when the config lacks a required key. Its GraphQL cost is 200.',
  })
  data(@Ctx() ctx: Context, @Root() visual: VisualWithDataset, @Args(() => VisualDataArgs) args: VisualDataArgs) {
    return loadVisualData(ctx, visual, args);
  }

  @ReadsAllRows()
  @Requires('name', ...DATA_COLUMNS)
  @FieldResolver(() => String, { description: 'SVG image. Its GraphQL cost is 200.' })
  image(@Ctx() ctx: Context, @Root() visual: VisualWithDataset, @Args(() => VisualImageArgs) args: VisualImageArgs) {
    return renderVisual(ctx, visual, args);
  }
}
