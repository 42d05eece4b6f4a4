import { Arg, Args, Ctx, Field, FieldResolver, Float, ObjectType, registerEnumType, Resolver, Root, Subscription } from 'type-graphql';
import { Dataset } from '../entities/dataset.ts';
import type { Context } from '../src/core/context.ts';
import type { ExportFormat } from '../src/core/export-format.ts';
import { Needs } from '../src/core/read/model.ts';
import { Json } from '../src/core/scalars.ts';
import { aggregate } from '../src/services/dataset-aggregate.ts';
import { discover, search, type RowPage } from '../src/services/dataset-data.ts';
import { exported, type ExportChunk as ExportChunkShape } from '../src/services/dataset-export.ts';
import { VIEWED, type ViewedDataset } from '../src/services/dataset-view.ts';
import { Key } from './arguments.ts';
import { AggregateArgs, DataArgs, DatasetAggregate, DatasetProfile, DatasetRows, RowArgs } from './dataset-data-types.ts';
import { Can } from './guard.ts';

export const ExportFormatEnum = { CSV: 'csv', JSON: 'json', NDJSON: 'ndjson', XLSX: 'xlsx', PARQUET: 'parquet' } as const satisfies Record<string, ExportFormat>;
registerEnumType(ExportFormatEnum, {
  name: 'ExportFormat',
  description: 'Format of an export. Columns are called by the names of the fields.',
  valuesConfig: {
    CSV: { description: 'Comma-separated values with a header (RFC 4180). Values are written as they are, also those that a spreadsheet takes for a formula because they begin with `=`, `+`, `-` or `@`.' },
    JSON: { description: 'One JSON array.' },
    NDJSON: { description: 'One JSON object a line.' },
    XLSX: {
      description: 'An Excel workbook, of several sheets past 1,048,576 rows, for at most 16,384 fields. Fields with a `format` and dates before March 1900 are text, for Excel cannot hold them exactly; '
        + 'texts are never formulas, and those past 32,767 characters are cut, ending in `…`.',
    },
    PARQUET: { description: 'Apache Parquet. Integers have 64 bits, those past the signed ones are unsigned; decimals that a double would spoil are strings of exact digits.' },
  },
});

export const ChunkEncodingEnum = { UTF8: 'utf8', BASE64: 'base64' } as const satisfies Record<string, ExportChunkShape['encoding']>;
registerEnumType(ChunkEncodingEnum, {
  name: 'ChunkEncoding',
  description: 'How a piece of a file is written as text.',
  valuesConfig: { UTF8: { description: 'It is text.' }, BASE64: { description: 'Its bytes in Base64.' } },
});

/** A piece of an export. */
@ObjectType({ description: 'A piece of an exported file, in order.' })
export class ExportChunk implements ExportChunkShape {
  @Field(() => String, { description: 'The piece: as it is for formats that are text, its bytes in Base64 (to be decoded piece by piece) for `XLSX` and `PARQUET`.' }) text!: string;
  @Field(() => ChunkEncodingEnum, { description: 'How `text` is to be read.' }) encoding!: ExportChunkShape['encoding'];
  @Field(() => String, { description: 'Name of the file.' }) filename!: string;
  @Field(() => String, { description: 'Its media type.' }) contentType!: string;
}

/** Children of a dataset that are read from its rows. */
@Resolver(() => Dataset)
export class DatasetDataResolver {
  @Needs(...VIEWED) @FieldResolver(() => DatasetRows, { description: 'A part of its rows.' })
  data(@Ctx() ctx: Context, @Root() dataset: ViewedDataset, @Args(() => DataArgs) args: DataArgs) {
    return search(ctx, dataset, args);
  }

  @Needs(...VIEWED) @FieldResolver(() => DatasetProfile, { description: 'Statistics of its fields over the matching rows.' })
  discover(
    @Ctx() ctx: Context, @Root() dataset: ViewedDataset,
    @Arg('fields', () => [String], { nullable: true, description: 'Fields wanted; all by default.' }) fields?: string[],
    @Arg('filter', () => Json, { nullable: true, description: 'Criteria, or the id of a saved filter.' }) filter?: unknown,
  ) {
    return discover(ctx, dataset, { fields, filter });
  }

  @Needs(...VIEWED) @FieldResolver(() => DatasetAggregate, { description: 'Its rows grouped and measured. Missing values are a group.' })
  aggregate(@Ctx() ctx: Context, @Root() dataset: ViewedDataset, @Args(() => AggregateArgs) args: AggregateArgs) {
    return aggregate(ctx, dataset, args);
  }

  @Can('authenticated') @Subscription(() => ExportChunk, {
    description: 'All rows of a dataset, or those that match, as a file in pieces; it ends with the last. REST streams them as `/datasets/{id}/export`.',
    subscribe: ({ context, args }) => exportOf(context as Context, args as ExportArgs),
  })
  datasetExport(
    @Root() chunk: ExportChunk, @Key('dataset') _id: string, @Arg('format', () => ExportFormatEnum, { description: 'Format of the file.' }) _format: ExportFormat, @Args(() => RowArgs) _rows: RowArgs,
  ): ExportChunk {
    return chunk;
  }
}

type ExportArgs = RowArgs & { id: string; format: ExportFormat };

/** Looks first, so that what is wrong with the request is an error of the subscription and not of its first piece. */
const exportOf = async (ctx: Context, { id, format, ...rows }: ExportArgs) => exported(ctx, await ctx.read.one(Dataset, id, [...VIEWED, 'slug']), format, rows);

@Resolver(() => DatasetRows)
export class DatasetRowsResolver {
  @FieldResolver(() => Float, { description: 'Matching rows altogether; counted only when asked for.' })
  total(@Root() page: RowPage) {
    return page.countAll();
  }
}
