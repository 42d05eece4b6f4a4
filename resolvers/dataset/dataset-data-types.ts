import { ArgsType, Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { GroupInput, MeasureInput } from '../../entities/dataset-aggregate-input.ts';
import { DatasetField, FieldFormatEnum, FieldTypeEnum } from '../../entities/dataset-field.ts';
import type { AggregateResult, FieldProfile as FieldProfileShape } from '../../src/core/dataset-index.ts';
import type { FieldFormat, FieldType } from '../../src/core/fields.ts';
import { limitRule, Rule, START_RULE } from '../../src/core/input-rules.ts';
import { RowFilter } from '../../src/core/query-language.ts';
import { Json, JsonObject } from '../../src/core/scalars.ts';

const SEARCH_WORDS =
  'Search words. Each must begin a word of a string or text field, ignoring case and accents. Only visible fields ' +
  'are searched.';

/** The arguments that select rows. */
@ArgsType()
export class RowArgs {
  @Field(() => RowFilter, { nullable: true, description: 'Rows to select. Default: all.' })
  filter?: unknown;

  @Field(() => String, { nullable: true, description: SEARCH_WORDS })
  q?: string;

  @Field(() => String, {
    nullable: true,
    description:
      'Fields to sort by, separated by commas, at most 20; a leading `-` sorts descending. Missing values come last.',
  })
  sort?: string;

  @Field(() => [String], { nullable: true, description: 'Names of the fields to return, in order. Default: all.' })
  fields?: string[];
}

/** The arguments that select a page of rows. */
@ArgsType()
export class DataArgs extends RowArgs {
  @Rule(limitRule(100, 10_000))
  @Field(() => Int, { nullable: true, description: 'Maximum number of rows, 1 to 10000. Default: 100.' })
  limit?: number;

  @Rule(START_RULE)
  @Field(() => Int, {
    nullable: true,
    description: 'Number of rows to skip; `start` plus `limit` is at most 10000. Default: 0.',
  })
  start?: number;

  @Field(() => String, {
    nullable: true,
    description:
      'Cursor: the `next` of an earlier page. The page continues in the rows of that page, even after a refresh. ' +
      'Error `GONE` 10 minutes after those rows were replaced.',
  })
  after?: string;

  @Field(() => ID, {
    nullable: true,
    description: 'Report whose reference `alias` filters the rows, in addition to `filter`. Requires `alias`.',
  })
  report?: string;

  @Field(() => ID, { nullable: true, description: 'Alias of the dataset in the report. Requires `report`.' })
  alias?: string;
}

@ObjectType({ description: 'A page of a dataset’s rows.' })
export class DatasetRows {
  @Field(() => [JsonObject], {
    description: 'Rows, by field name. A field with a `format` contains strings instead of numbers.',
  })
  items!: Record<string, unknown>[];

  @Field(() => [DatasetField], { description: 'Fields of the rows, in order.' })
  fields!: DatasetField[];

  @Field(() => Int, { description: 'Number of rows skipped.' })
  start!: number;

  @Field(() => Int, { description: 'Number of rows on this page.' })
  count!: number;

  @Field(() => String, { nullable: true, description: 'Cursor of the next page, for `after`; null on the last page.' })
  next!: string | null;
}

@ObjectType({ description: 'A value and the number of rows that have it.' })
class ValueCount {
  @Field(() => Json, { nullable: true, description: 'Value.' })
  value!: unknown;

  @Field(() => Float, { description: 'Number of rows with the value.' })
  count!: number;
}

@ObjectType({ description: 'A bar of a histogram.' })
class HistogramBar {
  @Field(() => Json, { nullable: true, description: 'Lower bound.' })
  from!: unknown;

  @Field(() => Json, { nullable: true, description: 'Upper bound.' })
  to!: unknown;

  @Field(() => Float, { description: 'Number of rows in the range.' })
  count!: number;
}

@ObjectType({
  description: 'Statistics of a field over the matching rows. A statistic that does not fit its type is null.',
})
class FieldProfile implements FieldProfileShape {
  @Field(() => String, { description: 'Name of the field.' })
  name!: string;

  @Field(() => FieldTypeEnum, { description: 'Type of the values.' })
  type!: FieldType;

  @Field(() => Float, { description: 'Number of rows with a value.' })
  count!: number;

  @Field(() => Float, { description: 'Number of rows without a value.' })
  missing!: number;

  @Field(() => Float, { description: 'Number of distinct values.' })
  distinct!: number;

  @Field(() => Boolean, { description: 'Whether `distinct` is an estimate, which is possible above 10,000.' })
  approximate!: boolean;

  @Field(() => Json, { nullable: true, description: 'Minimum.' })
  min!: unknown;

  @Field(() => Json, { nullable: true, description: 'Maximum.' })
  max!: unknown;

  @Field(() => Float, { nullable: true, description: 'Mean.' })
  avg!: number | null;

  @Field(() => Float, { nullable: true, description: 'Population standard deviation.' })
  stdDev!: number | null;

  @Field(() => [ValueCount], { description: 'Most frequent values.' })
  top!: ValueCount[];

  @Field(() => [HistogramBar], { description: 'Distribution of the values.' })
  histogram!: HistogramBar[];
}

@ObjectType({ description: 'Statistics of a dataset’s fields.' })
export class DatasetProfile {
  @Field(() => Float, { description: 'Number of matching rows.' })
  total!: number;

  @Field(() => [FieldProfile], { description: 'Statistics of each field.' })
  fields!: FieldProfile[];
}

/** The arguments of an aggregation. */
@ArgsType()
export class AggregateArgs {
  @Field(() => [GroupInput], {
    nullable: true,
    description: 'Fields to group by. Without any, all rows form one group. A missing value is a group of its own.',
  })
  groupBy?: GroupInput[];

  @Field(() => [MeasureInput], { description: 'Measures of each group; at most 20 columns with the groups.' })
  measures!: MeasureInput[];

  @Field(() => RowFilter, { nullable: true, description: 'Rows to select. Default: all.' })
  filter?: unknown;

  @Field(() => String, { nullable: true, description: SEARCH_WORDS })
  q?: string;

  @Field(() => String, {
    nullable: true,
    description: 'Columns to sort by, separated by commas, at most 20; a leading `-` sorts descending.',
  })
  sort?: string;

  @Rule(limitRule(1000, 10_000))
  @Field(() => Int, { nullable: true, description: 'Maximum number of groups, 1 to 10000. Default: 1000.' })
  limit?: number;
}

@ObjectType({ description: 'A column of an aggregation.' })
class AggregateColumn {
  @Field(() => String, { description: 'Field of the group, or `as` of the measure.' })
  name!: string;

  @Field(() => String, { description: 'Display name.' })
  label!: string;

  @Field(() => FieldTypeEnum, { description: 'Type of the values.' })
  type!: FieldType;

  @Field(() => FieldFormatEnum, {
    nullable: true,
    description:
      'Set if the values are exact strings because a JSON number would round one of them: values of a field with a ' +
      'format, and sums of whole numbers past 9007199254740991.',
  })
  format?: FieldFormat;
}

@ObjectType({ description: 'Result of an aggregation.' })
export class DatasetAggregate implements AggregateResult {
  @Field(() => [AggregateColumn], { description: 'Columns: groups first, then measures.' })
  columns!: AggregateColumn[];

  @Field(() => [[Json]], { nullable: 'items', description: 'Rows, with one value for each column.' })
  rows!: unknown[][];

  @Field(() => Int, { description: 'Number of all groups.' })
  total!: number;

  @Field(() => Boolean, { description: 'Whether `limit` left out groups.' })
  truncated!: boolean;
}
