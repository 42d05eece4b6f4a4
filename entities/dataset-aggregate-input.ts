import { Field, InputType, registerEnumType } from 'type-graphql';
import type { Aggregation } from '../src/core/dataset-index.ts';
import { Rule, textRule } from '../src/core/input-rules.ts';

const IntervalEnum = {
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
  description: 'Time interval to group by.',
  valuesConfig: {
    MINUTE: { description: 'Minutes.' },
    HOUR: { description: 'Hours.' },
    DAY: { description: 'Days.' },
    WEEK: { description: 'Weeks, from Monday.' },
    MONTH: { description: 'Months.' },
    QUARTER: { description: 'Quarters.' },
    YEAR: { description: 'Years.' },
  },
});

const AggregateFunctionEnum = {
  COUNT: 'count',
  SUM: 'sum',
  AVG: 'avg',
  MIN: 'min',
  MAX: 'max',
  COUNT_DISTINCT: 'countDistinct',
} as const;
registerEnumType(AggregateFunctionEnum, {
  name: 'AggregateFunction',
  description: 'Function that a measure applies to each group.',
  valuesConfig: {
    COUNT: { description: 'Number of rows, or number of values of a field.' },
    SUM: { description: 'Sum of a numeric field.' },
    AVG: { description: 'Mean of a numeric field.' },
    MIN: { description: 'Minimum of a field.' },
    MAX: { description: 'Maximum of a field.' },
    COUNT_DISTINCT: { description: 'Number of distinct values of a field.' },
  },
});

@InputType({ description: 'A field to group by.' })
export class GroupInput {
  @Field(() => String, { description: 'Name of the field.' })
  field!: string;

  @Field(() => IntervalEnum, {
    nullable: true,
    description: 'Time interval of each group. Only for fields of type `date` or `datetime`.',
  })
  interval?: Aggregation['groupBy'][number]['interval'];

  @Field(() => String, {
    nullable: true,
    description: 'IANA time zone in which intervals begin, e.g. `Europe/Berlin`. Default: UTC.',
  })
  timezone?: string;
}

@InputType({ description: 'A measure of each group.' })
export class MeasureInput {
  @Field(() => AggregateFunctionEnum, { description: 'Function to apply.' })
  fn!: Aggregation['measures'][number]['fn'];

  @Field(() => String, {
    nullable: true,
    description: 'Name of the field. Required except for `count`, which counts rows without it.',
  })
  field?: string;

  @Rule(textRule(200))
  @Field(() => String, { description: 'Name of the result column, 1 to 200 characters.' })
  as!: string;
}
