import { Arg, Args, Ctx, FieldResolver, Float, Resolver, Root, Subscription } from 'type-graphql';
import { Dataset } from '../../entities/dataset.ts';
import type { Context } from '../../src/core/context.ts';
import type { ExportFormat } from '../../src/core/export-format.ts';
import { Requires } from '../../src/core/read/model.ts';
import { Json } from '../../src/core/scalars.ts';
import { aggregate } from '../../src/services/dataset/dataset-aggregate.ts';
import { discover, search, type RowPage } from '../../src/services/dataset/dataset-data.ts';
import { exported } from '../../src/services/dataset/dataset-export.ts';
import { VIEWED, type ViewedDataset } from '../../src/services/dataset/dataset-view.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import {
  AggregateArgs,
  DataArgs,
  DatasetAggregate,
  DatasetProfile,
  DatasetRows,
  RowArgs,
} from './dataset-data-types.ts';
import { ExportChunk, ExportFormatEnum } from './export-types.ts';

/** Children of a dataset that are read from its rows. */
@Resolver(() => Dataset)
export class DatasetDataResolver {
  @Requires(...VIEWED)
  @FieldResolver(() => DatasetRows, { description: 'A part of its rows.' })
  data(@Ctx() ctx: Context, @Root() dataset: ViewedDataset, @Args(() => DataArgs) args: DataArgs) {
    return search(ctx, dataset, args);
  }

  @Requires(...VIEWED)
  @FieldResolver(() => DatasetProfile, { description: 'Statistics of its fields over the matching rows.' })
  discover(
    @Ctx() ctx: Context,
    @Root() dataset: ViewedDataset,
    @Arg('fields', () => [String], { nullable: true, description: 'Fields wanted; all by default.' }) fields?: string[],
    @Arg('filter', () => Json, { nullable: true, description: 'Criteria, or the id of a saved filter.' })
    filter?: unknown,
  ) {
    return discover(ctx, dataset, { fields, filter });
  }

  @Requires(...VIEWED)
  @FieldResolver(() => DatasetAggregate, { description: 'Its rows grouped and measured. Missing values are a group.' })
  aggregate(@Ctx() ctx: Context, @Root() dataset: ViewedDataset, @Args(() => AggregateArgs) args: AggregateArgs) {
    return aggregate(ctx, dataset, args);
  }

  @Can('authenticated')
  @Subscription(() => ExportChunk, {
    description:
      'All rows of a dataset, or those that match, as a file in pieces; it ends with the last. REST streams them as `/datasets/{id}/export`.',
    subscribe: ({ context, args }) => exportOf(context as Context, args as ExportArgs),
  })
  datasetExport(
    @Root() chunk: ExportChunk,
    @Key('dataset') _id: string,
    @Arg('format', () => ExportFormatEnum, { description: 'Format of the file.' }) _format: ExportFormat,
    @Args(() => RowArgs) _rows: RowArgs,
  ): ExportChunk {
    return chunk;
  }
}

type ExportArgs = RowArgs & { id: string; format: ExportFormat };

/** Looks first, so that what is wrong with the request is an error of the subscription and not of its first piece. */
const exportOf = async (ctx: Context, { id, format, ...rows }: ExportArgs) =>
  exported(ctx, await ctx.read.one(Dataset, id, [...VIEWED, 'slug']), format, rows);

@Resolver(() => DatasetRows)
export class DatasetRowsResolver {
  @FieldResolver(() => Float, { description: 'Matching rows altogether; counted only when asked for.' })
  total(@Root() page: RowPage) {
    return page.countAll();
  }
}
