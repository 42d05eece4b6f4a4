import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { AggregateResult } from '../src/core/dataset-index.ts';
import type { Field as DatasetFieldShape } from '../src/core/fields.ts';
import { Json } from '../src/core/scalars.ts';

/** Rows of a table block. `total` counts all matching rows. */
export interface BlockRows {
  fields: DatasetFieldShape[];
  rows: Record<string, unknown>[];
  total: number;
}

@ObjectType({ description: 'The reason why a block of a report has no data for the caller.' })
export class BlockError {
  @Field(() => Int, { description: 'HTTP status.' })
  statusCode!: number;

  @Field(() => String, { description: 'Error code, e.g. `NOT_FOUND`.' })
  code!: string;

  @Field(() => String, { description: 'Human-readable error message.' })
  message!: string;
}

@ObjectType({ description: 'Data of one block of a report.' })
export class BlockData {
  @Field(() => ID, {
    description: 'Id of the report and of the block: `<reportId>:<block>`. REST: the id of the block alone.',
  })
  id!: string;

  @Field(() => String, { description: 'Id of the block, unique within the report.' })
  block!: string;

  @Field(() => String, { nullable: true, description: 'Type of the block.' })
  type!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Alias of the block’s dataset reference. Null for a block without data, such as text.',
  })
  dataset!: string | null;

  @Field(() => Json, {
    nullable: true,
    description:
      'For a table: `{fields, rows, total}`, at most 1000 rows (`limit`, default 100). ' +
      'For measures, visuals and charts: `{columns, rows, total, truncated}`, as returned by `_aggregate`. ' +
      'With snapshot settings in the dataset reference, the first field or column is `_snapshot`: ' +
      'the name of the snapshot that a row belongs to, or null for current rows. ' +
      'Current rows and each snapshot are sorted and grouped separately; current rows come first.',
  })
  data!: BlockRows | AggregateResult | null;

  @Field(() => BlockError, {
    nullable: true,
    description: 'The reason why the block has no data. An error of one block does not affect other blocks.',
  })
  error!: BlockError | null;
}
