import { Ctx, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import { Dataset } from '../../entities/dataset.ts';
import { DATASET } from '../../entities/owned-kinds.ts';
import { QueryParameter } from '../../entities/query-parameter.ts';
import type { Context } from '../../src/core/context.ts';
import { levelAllows } from '../../src/core/permissions.ts';
import { FlowStepScalar } from '../../src/core/query-language.ts';
import { Requires } from '../../src/core/read/model.ts';
import type { QuerySource } from '../../src/services/dataset/dataset-refresh.ts';
import { accessLevel, type AccessColumns } from '../../src/services/resource/access-level.ts';
import { accessLevelColumns } from '../../src/services/resource/owned-kind.ts';
import { loadEffectiveQuery } from '../datasource/linked-query.ts';

type SourceRow = QuerySource & AccessColumns;

const ACCESS_COLUMNS = accessLevelColumns(DATASET);
const SOURCE_COLUMNS = ['queryId', 'datasourceId', 'query', 'params', ...ACCESS_COLUMNS];

const canWrite = async (ctx: Context, dataset: AccessColumns) =>
  levelAllows(await accessLevel(ctx, dataset), 'dataset:write');

/** The fields of a dataset that define its rows. Most of them are visible only with `dataset:write`. */
@Resolver(() => Dataset)
export class DatasetDefinitionFields {
  @Requires(...SOURCE_COLUMNS)
  @FieldResolver(() => ID, { nullable: true, description: 'Datasource on which the query runs; null without a query.' })
  async datasourceId(@Ctx() ctx: Context, @Root() dataset: SourceRow) {
    return (await loadEffectiveQuery(ctx, dataset))?.datasourceId ?? null;
  }

  @Requires(...SOURCE_COLUMNS)
  @FieldResolver(() => String, {
    nullable: true,
    description: 'Query text, with `{{name}}` for parameters; null without the permission `dataset:write`.',
  })
  async query(@Ctx() ctx: Context, @Root() dataset: SourceRow) {
    return (await canWrite(ctx, dataset)) ? ((await loadEffectiveQuery(ctx, dataset))?.query ?? null) : null;
  }

  @Requires(...SOURCE_COLUMNS)
  @FieldResolver(() => [QueryParameter], {
    nullable: true,
    description: 'Parameters of the query; null without the permission `dataset:write`.',
  })
  async params(@Ctx() ctx: Context, @Root() dataset: SourceRow) {
    return (await canWrite(ctx, dataset)) ? ((await loadEffectiveQuery(ctx, dataset))?.params ?? []) : null;
  }

  @Requires('flow', ...ACCESS_COLUMNS)
  @FieldResolver(() => [FlowStepScalar], {
    nullable: true,
    description:
      'Steps that transform the rows while a refresh loads them, in order; null without the permission `dataset:write`.',
  })
  async flow(@Ctx() ctx: Context, @Root() dataset: AccessColumns & Pick<Dataset, 'flow'>) {
    return (await canWrite(ctx, dataset)) ? dataset.flow : null;
  }

  @Requires('generationId', ...ACCESS_COLUMNS)
  @FieldResolver(() => String, {
    nullable: true,
    description:
      'Name of the rows in the index; null before the first refresh, and without the permission `dataset:write`.',
  })
  async esIndex(@Ctx() ctx: Context, @Root() dataset: AccessColumns & Pick<Dataset, 'generationId'>) {
    return (await canWrite(ctx, dataset)) ? (dataset.generationId ?? null) : null;
  }
}
