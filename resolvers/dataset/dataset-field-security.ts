import { Arg, Ctx, Field, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { Context } from '../../src/core/context.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import { setFieldSecurity } from '../../src/services/dataset/dataset-field-security.ts';
import { Can } from '../support/guard.ts';

@ObjectType({ description: 'Field security of the updated datasets.' })
class FieldSecurityUpdate {
  @Field(() => Int, { description: 'Number of datasets updated.' })
  updated!: number;

  @Field(() => JsonObject, {
    description: 'Whether shares and reports may restrict fields, by dataset id.',
  })
  datasets!: Record<string, boolean>;
}

@Resolver()
export class DatasetFieldSecurityResolver {
  @Can('dataset:share')
  @Mutation(() => FieldSecurityUpdate, {
    description:
      'Enables or disables field security of up to 1000 datasets, all or none of them. Without it, shares show all ' +
      'fields; row filters and levels of shares are not affected.',
  })
  async setDatasetFieldSecurity(
    @Ctx() ctx: Context,
    @Arg('datasets', () => JsonObject, {
      description: 'New state by dataset id or slug: true lets shares restrict fields, false shows all fields.',
    })
    enabledByKey: Record<string, unknown>,
  ): Promise<FieldSecurityUpdate> {
    const datasets = await setFieldSecurity(ctx, enabledByKey);
    return { updated: Object.keys(datasets).length, datasets };
  }
}
