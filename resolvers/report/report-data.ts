import { Arg, Ctx, Field, FieldResolver, ID, ObjectType, Resolver, Root } from 'type-graphql';
import { BlockData } from '../../entities/report-data.ts';
import { Report } from '../../entities/report.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import { reportData } from '../../src/services/report/report-data.ts';
import { ReadsAllRows } from '../support/reads-all-rows.ts';

@ObjectType({ description: 'Data of a report’s blocks.' })
class ReportData {
  @Field(() => [BlockData], { description: 'Blocks from top to bottom. Nested blocks follow the block they are in.' })
  blocks!: BlockData[];
}

@Resolver(() => Report)
export class ReportDataResolver {
  @ReadsAllRows()
  @Requires('definition')
  @FieldResolver(() => ReportData, {
    description:
      'Data of the report’s blocks with the caller’s own access to each dataset: ' +
      'sharing a report does not share its datasets. Returns data of at most 100 blocks at a time. Its GraphQL cost is 200.',
  })
  async data(
    @Ctx() ctx: Context,
    @Root() report: Pick<Report, 'id' | 'definition'>,
    @Arg('blocks', () => [ID], {
      nullable: true,
      description: 'Ids of the blocks to return, as in `block`. Default: all blocks.',
    })
    blocks?: string[],
  ): Promise<ReportData> {
    return { blocks: await reportData(ctx, report, blocks) };
  }
}
