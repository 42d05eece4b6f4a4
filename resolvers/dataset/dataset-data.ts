import { Arg, Args, Ctx, FieldResolver, Float, Resolver, Root, Subscription } from 'type-graphql';
import { Dataset } from '../../entities/dataset.ts';
import type { Context } from '../../src/core/context.ts';
import type { CsvStyle, ExportFormat } from '../../src/core/export-format.ts';
import { Rule } from '../../src/core/input-rules.ts';
import { RowFilter } from '../../src/core/query-language.ts';
import { Requires } from '../../src/core/read/model.ts';
import { aggregate } from '../../src/services/dataset/dataset-aggregate.ts';
import { discover, search, type RowPage } from '../../src/services/dataset/dataset-data.ts';
import { exportRows } from '../../src/services/dataset/dataset-export.ts';
import { VIEW_COLUMNS, type ViewedDataset } from '../../src/services/dataset/dataset-view.ts';
import { filterOfReference } from '../../src/services/report/report-data.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ReadsAllRows } from '../support/reads-all-rows.ts';
import {
  AggregateArgs,
  DataArgs,
  DatasetAggregate,
  DatasetProfile,
  DatasetRows,
  RowArgs,
} from './dataset-data-types.ts';
import { ExportChunk, ExportFormatEnum } from './export-types.ts';

/** The fields of a dataset that are read from its rows. */
@Resolver(() => Dataset)
export class DatasetDataResolver {
  @Requires(...VIEW_COLUMNS)
  @FieldResolver(() => DatasetRows, { description: 'A page of the rows that the caller can see.' })
  async data(
    @Ctx() ctx: Context,
    @Root() dataset: ViewedDataset,
    @Args(() => DataArgs) { report, alias, ...query }: DataArgs,
  ) {
    if (report == null && alias == null) return search(ctx, dataset, query);
    const filter = await filterOfReference(ctx, dataset, { report, alias, filter: query.filter });
    return search(ctx, dataset, { ...query, filter });
  }

  @ReadsAllRows()
  @Requires(...VIEW_COLUMNS)
  @FieldResolver(() => DatasetProfile, {
    description: 'Statistics of the fields over the matching rows. Its GraphQL cost is 200.',
  })
  discover(
    @Ctx() ctx: Context,
    @Root() dataset: ViewedDataset,
    @Arg('fields', () => [String], {
      nullable: true,
      description: 'Names of the fields to profile, at most 200. Default: all.',
    })
    @Rule({ maxItems: 200 })
    fields?: string[],
    @Arg('filter', () => RowFilter, { nullable: true, description: 'Rows to profile. Default: all.' })
    filter?: unknown,
  ) {
    return discover(ctx, dataset, { fields, filter });
  }

  @ReadsAllRows()
  @Requires(...VIEW_COLUMNS)
  @FieldResolver(() => DatasetAggregate, {
    description:
      'Groups and measures of the matching rows. Missing values form a group of their own. Its GraphQL cost is 200.',
  })
  aggregate(@Ctx() ctx: Context, @Root() dataset: ViewedDataset, @Args(() => AggregateArgs) args: AggregateArgs) {
    return aggregate(ctx, dataset, args);
  }

  @Can('authenticated')
  @Subscription(() => ExportChunk, {
    description:
      'Exports all matching rows of a dataset as a file. In GraphQL, the file is emitted in chunks, and the ' +
      'subscription completes after the last one; in REST, it is the response of `GET /datasets/{id}/export`.',
    subscribe: ({ context, args }) => startExport(context as Context, args as ExportArgs),
  })
  datasetExport(
    @Root() chunk: ExportChunk,
    @Key('dataset') _id: string,
    @Arg('format', () => ExportFormatEnum, { description: 'File format.' }) _format: ExportFormat,
    @Args(() => RowArgs) _rows: RowArgs,
    @Arg('bom', () => Boolean, {
      nullable: true,
      description: 'CSV: whether the file begins with a byte order mark, by which Excel recognises UTF-8. Default: no.',
    })
    _bom?: boolean,
    @Arg('escapeFormulas', () => Boolean, {
      nullable: true,
      description:
        'CSV: whether texts that a spreadsheet would run as formulas begin with an apostrophe. Default: no, so that the ' +
        'file can be uploaded again without a change.',
    })
    _escapeFormulas?: boolean,
  ): ExportChunk {
    return chunk;
  }
}

type ExportArgs = RowArgs & CsvStyle & { id: string; format: ExportFormat };

/** Checks the request before the first chunk, so that an invalid one is an error of the subscription itself. */
const startExport = async (ctx: Context, { id, format, bom, escapeFormulas, ...rows }: ExportArgs) => {
  const dataset = await ctx.read.one(Dataset, id, [...VIEW_COLUMNS, 'slug', 'name']);
  return exportRows(ctx, dataset, format, rows, dataset.slug, { bom, escapeFormulas });
};

@Resolver(() => DatasetRows)
export class DatasetRowsResolver {
  @ReadsAllRows()
  @FieldResolver(() => Float, {
    description: 'Number of all matching rows; counted only if selected. Its GraphQL cost is 200.',
  })
  total(@Root() page: RowPage) {
    return page.countAll();
  }
}
