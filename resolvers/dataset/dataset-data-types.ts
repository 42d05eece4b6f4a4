import { ArgsType, Field, Float, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { AggregateResult, Aggregation, FieldProfile as FieldProfileShape } from '../../src/core/dataset-index.ts';
import type { FieldType } from '../../src/core/fields.ts';
import { Json, JsonObject } from '../../src/core/scalars.ts';
import { DatasetField, FieldTypeEnum } from './dataset-field.ts';

const FILTER =
  'Criteria as an object, e.g. `{"amount": {"$gte": 100}}`, or as JSON text; any other text is the id of a saved filter.';

/** Which rows. */
@ArgsType()
export class RowArgs {
  @Field(() => Json, { nullable: true, description: FILTER })
  filter?: unknown;

  @Field(() => String, {
    nullable: true,
    description: 'Words that rows must hold, each beginning a word of some text field, ignoring case and accents.',
  })
  q?: string;

  @Field(() => String, {
    nullable: true,
    description: 'Fields to sort by, separated by commas; `-` before one descends. Missing values come last.',
  })
  sort?: string;

  @Field(() => [String], { nullable: true, description: 'Fields wanted, in this order; all by default.' })
  fields?: string[];
}

/** Which part of them. */
@ArgsType()
export class DataArgs extends RowArgs {
  @Field(() => Int, { nullable: true, description: 'Rows wanted, 1 to 10000. Default 100.' })
  limit?: number;

  @Field(() => Int, {
    nullable: true,
    description: 'Rows to pass over; `start` plus `limit` is at most 10000. Default 0.',
  })
  start?: number;

  @Field(() => String, {
    nullable: true,
    description:
      'The `next` of an earlier page: the rows after it, of the same generation. Error `GONE` when that is not kept any more.',
  })
  after?: string;
}

/** A part of a dataset's rows. */
@ObjectType({ description: 'A part of a dataset’s rows.' })
export class DatasetRows {
  @Field(() => [JsonObject], { description: 'The rows, by field name.' }) items!: Record<string, unknown>[];
  @Field(() => [DatasetField], { description: 'The fields of the rows, in order.' }) fields!: DatasetField[];
  @Field(() => Int, { description: 'Rows passed over before this part.' }) start!: number;
  @Field(() => Int, { description: 'Rows in this part.' }) count!: number;
  @Field(() => String, { nullable: true, description: 'For `after`: where the next part begins; null at the end.' })
  next!: string | null;
}

/** How often a value occurs. */
@ObjectType({ description: 'How often a value occurs.' })
export class ValueCount {
  @Field(() => Json, { nullable: true, description: 'The value.' }) value!: unknown;
  @Field(() => Float, { description: 'Rows that have it.' }) count!: number;
}

/** A bar of a histogram. */
@ObjectType({ description: 'A bar of a histogram.' })
export class HistogramBar {
  @Field(() => Json, { nullable: true, description: 'From this value on.' }) from!: unknown;
  @Field(() => Json, { nullable: true, description: 'Up to this value.' }) to!: unknown;
  @Field(() => Float, { description: 'Rows between them.' }) count!: number;
}

/** Statistics of a field. */
@ObjectType({ description: 'Statistics of a field over the matching rows. What makes no sense for its type is null.' })
export class FieldProfile implements FieldProfileShape {
  @Field(() => String, { description: 'The field.' }) name!: string;
  @Field(() => FieldTypeEnum, { description: 'Its type.' }) type!: FieldType;
  @Field(() => Float, { description: 'Rows that have a value.' }) count!: number;
  @Field(() => Float, { description: 'Rows without a value.' }) missing!: number;
  @Field(() => Float, { description: 'Different values.' }) distinct!: number;
  @Field(() => Boolean, { description: 'Whether `distinct` is an estimate.' }) approximate!: boolean;
  @Field(() => Json, { nullable: true, description: 'Least value.' }) min!: unknown;
  @Field(() => Json, { nullable: true, description: 'Greatest value.' }) max!: unknown;
  @Field(() => Float, { nullable: true, description: 'Mean.' }) avg!: number | null;
  @Field(() => Float, { nullable: true, description: 'Standard deviation of the population.' }) stdDev!: number | null;
  @Field(() => [ValueCount], { description: 'The most frequent values.' }) top!: ValueCount[];
  @Field(() => [HistogramBar], { description: 'How the values are spread.' }) histogram!: HistogramBar[];
}

/** Statistics of a dataset. */
@ObjectType({ description: 'Statistics of a dataset’s fields.' })
export class DatasetProfile {
  @Field(() => Float, { description: 'Matching rows.' }) total!: number;
  @Field(() => [FieldProfile], { description: 'The fields.' }) fields!: FieldProfile[];
}

export const IntervalEnum = {
  MINUTE: 'minute',
  HOUR: 'hour',
  DAY: 'day',
  WEEK: 'week',
  MONTH: 'month',
  QUARTER: 'quarter',
  YEAR: 'year',
} as const;
registerEnumType(IntervalEnum, {
  name: 'Interval',
  description: 'A stretch of time to group by.',
  valuesConfig: {
    MINUTE: { description: 'Minutes.' },
    HOUR: { description: 'Hours.' },
    DAY: { description: 'Days.' },
    WEEK: { description: 'Weeks from Monday.' },
    MONTH: { description: 'Months.' },
    QUARTER: { description: 'Quarters.' },
    YEAR: { description: 'Years.' },
  },
});

export const AggregateFunctionEnum = {
  COUNT: 'count',
  SUM: 'sum',
  AVG: 'avg',
  MIN: 'min',
  MAX: 'max',
  COUNT_DISTINCT: 'countDistinct',
} as const;
registerEnumType(AggregateFunctionEnum, {
  name: 'AggregateFunction',
  description: 'What is measured of a group.',
  valuesConfig: {
    COUNT: { description: 'Rows, or values of a field.' },
    SUM: { description: 'Sum of a field.' },
    AVG: { description: 'Mean of a field.' },
    MIN: { description: 'Least value.' },
    MAX: { description: 'Greatest value.' },
    COUNT_DISTINCT: { description: 'Different values.' },
  },
});

/** A field to group by. */
@InputType({ description: 'A field to group by.' })
export class GroupInput {
  @Field(() => String, { description: 'The field.' }) field!: string;
  @Field(() => IntervalEnum, { nullable: true, description: 'For dates: the stretch of time that makes a group.' })
  interval?: Aggregation['groupBy'][number]['interval'];
  @Field(() => String, { nullable: true, description: 'IANA time zone in which stretches begin. Default UTC.' })
  timezone?: string;
}

/** A measure of each group. */
@InputType({ description: 'A measure of each group.' })
export class MeasureInput {
  @Field(() => AggregateFunctionEnum, { description: 'What is measured.' }) fn!: Aggregation['measures'][number]['fn'];
  @Field(() => String, { nullable: true, description: 'The field; `count` without one counts rows.' }) field?: string;
  @Field(() => String, { description: 'Name of the column.' }) as!: string;
}

/** A grouped question. */
@ArgsType()
export class AggregateArgs {
  @Field(() => [GroupInput], { nullable: true, description: 'Fields to group by; none makes one group of all rows.' })
  groupBy?: GroupInput[];

  @Field(() => [MeasureInput], { description: 'What is measured of each group.' })
  measures!: MeasureInput[];

  @Field(() => Json, { nullable: true, description: FILTER })
  filter?: unknown;

  @Field(() => String, { nullable: true, description: 'Words that rows must hold.' })
  q?: string;

  @Field(() => String, {
    nullable: true,
    description: 'Columns to sort by, separated by commas; `-` before one descends.',
  })
  sort?: string;

  @Field(() => Int, { nullable: true, description: 'Groups wanted, 1 to 10000. Default 1000.' })
  limit?: number;
}

/** A column of an aggregate. */
@ObjectType({ description: 'A column of a grouped answer.' })
export class AggregateColumn {
  @Field(() => String, { description: 'The group’s field, or the measure’s `as`.' }) name!: string;
  @Field(() => String, { description: 'What to show instead.' }) label!: string;
  @Field(() => FieldTypeEnum, { description: 'Type of its values.' }) type!: FieldType;
}

/** Answer of a grouped question. */
@ObjectType({ description: 'Answer of a grouped question.' })
export class DatasetAggregate implements AggregateResult {
  @Field(() => [AggregateColumn], { description: 'Its columns: groups first, then measures.' })
  columns!: AggregateColumn[];
  @Field(() => [[Json]], { nullable: 'items', description: 'Its rows: one value for each column.' }) rows!: unknown[][];
  @Field(() => Int, { description: 'Groups altogether.' }) total!: number;
  @Field(() => Boolean, { description: 'Whether there are more groups than these.' }) truncated!: boolean;
}
