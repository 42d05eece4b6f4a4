import { Arg, Ctx, Field, FieldResolver, ID, Int, ObjectType, Resolver, Root } from 'type-graphql';
import { Report } from '../../entities/report.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import { Json } from '../../src/core/scalars.ts';
import { reportData, type BlockData, type BlockError } from '../../src/services/report/report-data.ts';

/** Why a block has no data. */
@ObjectType('BlockError', { description: 'Why a block of a report has no data for the caller.' })
export class BlockErrorType implements BlockError {
  @Field(() => Int, { description: 'HTTP status.' }) statusCode!: number;
  @Field(() => String, { description: 'Code, e.g. `NOT_FOUND`.' }) code!: string;
  @Field(() => String, { description: 'The sentence for people.' }) message!: string;
}

/** What a block of a report shows. */
@ObjectType('BlockData', { description: 'What a block of a report shows.' })
export class BlockDataType implements BlockData {
  @Field(() => ID, { description: 'The block.' }) id!: string;
  @Field(() => String, { nullable: true, description: 'Its type.' }) type!: string | null;
  @Field(() => String, {
    nullable: true,
    description: 'The alias of its dataset; null for what has none, such as text.',
  })
  dataset!: string | null;
  @Field(() => Json, {
    nullable: true,
    description:
      'Of a table `{fields, rows, total}`, at most 1000 rows (`limit`, default 100); of measures, visuals and charts `{columns, rows, total, truncated}` as `_aggregate` answers. Where the reference has snapshot settings the first field or column, `_snapshot`, says of which moment a row is: null for the current rows, else the snapshot. Each moment is sorted and grouped by itself, the current one first.',
  })
  data!: BlockData['data'];
  @Field(() => BlockErrorType, { nullable: true, description: 'Why it has no data; the other blocks have theirs.' })
  error!: BlockErrorType | null;
}

/** What a report shows. */
@ObjectType({ description: 'What a report shows.' })
export class ReportData {
  @Field(() => [BlockDataType], { description: 'Its blocks from top to bottom, those within others behind these.' })
  blocks!: BlockDataType[];
}

@Resolver(() => Report)
export class ReportDataResolver {
  @Requires('definition')
  @FieldResolver(() => ReportData, {
    description:
      'What its blocks show to the caller, whose own rights on each dataset count: sharing a report opens none of its datasets. At most 100 blocks with data at once.',
  })
  async data(
    @Ctx() ctx: Context,
    @Root() report: Pick<Report, 'id' | 'definition'>,
    @Arg('blocks', () => [ID], { nullable: true, description: 'Ids of the blocks wanted; all by default.' })
    blocks?: string[],
  ): Promise<ReportData> {
    return { blocks: await reportData(ctx, report, blocks) };
  }
}
