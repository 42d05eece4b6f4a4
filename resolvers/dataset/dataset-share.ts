import { Arg, Ctx, Field, ID, InputType, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import { ShareInput } from '../../entities/share-input.ts';
import type { Context } from '../../src/core/context.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import * as shares from '../../src/services/dataset/dataset-share.ts';
import { Can } from '../support/guard.ts';

/** What a share of a dataset gives and shows. */
@InputType({
  description: 'What a share of a dataset gives and shows. Of a share that there is, absent keys stay as they are.',
})
export class DatasetShareInput extends ShareInput implements shares.DatasetShareInput {
  @Field(() => ID, { nullable: true, description: 'Shows the rows of this saved filter alone; null shows all.' })
  datasetFilterId?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether it shows `visibleFields` alone, false by default. The dataset must have `fieldSecurityEnabled`.',
  })
  restrictFields?: boolean | null;

  @Field(() => [String], {
    nullable: true,
    description: 'Names of the fields to show when it restricts them. Fields that a refresh adds stay hidden.',
  })
  visibleFields?: string[] | null;
}

/** What became of the field security of datasets. */
@ObjectType({ description: 'What became of the field security of datasets.' })
export class FieldSecurityUpdate {
  @Field(() => Int, { description: 'How many datasets were updated.' }) updated!: number;
  @Field(() => JsonObject, {
    description: 'By id of the dataset: whether shares and reports may restrict its fields now.',
  })
  datasets!: Record<string, boolean>;
}

@Resolver()
export class DatasetShareResolver {
  @Can('dataset:share')
  @Mutation(() => FieldSecurityUpdate, {
    description:
      'Switches field security of datasets on or off, of all or none of them. Without it shares show all fields; what else they give stays as it is.',
  })
  async setDatasetFieldSecurity(
    @Ctx() ctx: Context,
    @Arg('datasets', () => JsonObject, {
      description: 'By id or slug: true lets shares restrict fields, false shows all fields.',
    })
    switches: Record<string, unknown>,
  ): Promise<FieldSecurityUpdate> {
    const datasets = await shares.secureFields(ctx, switches);
    return { updated: Object.keys(datasets).length, datasets };
  }
}
