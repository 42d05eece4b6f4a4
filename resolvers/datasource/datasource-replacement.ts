import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, Field, FieldResolver, ID, Info, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { DatasetRefresh } from '../../entities/dataset-refresh.ts';
import { Datasource } from '../../entities/datasource.ts';
import { Operation } from '../../entities/operation.ts';
import { ReplaceDatasourceFileInput } from '../../entities/upload-input.ts';
import type { Context } from '../../src/core/context.ts';
import * as replacements from '../../src/services/dataset/datasource-replace.ts';
import { OperationArgs } from '../operation/operation-arguments.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { UploadProblemType } from './datasource-types.ts';

@ObjectType({ description: 'Replacement of the file of a datasource, and of the rows that are read from it.' })
export class DatasourceReplacement {
  @Field(() => Operation, { description: 'Operation that puts the file in place. Its `resource` is the datasource.' })
  operation!: Operation;

  @Field(() => [UploadProblemType], { description: 'Doubts about the file, as in the preview of an upload.' })
  problems!: UploadProblemType[];

  @Field(() => [ID], {
    description:
      'With `refresh`: ids of the datasets that the caller can read, but that were not refreshed, for lack of a ' +
      'permission or of values of parameters.',
  })
  notRefreshed!: string[];
}

@Resolver(() => DatasourceReplacement)
export class DatasourceReplacementResolver {
  @Can('datasource:write')
  @Mutation(() => DatasourceReplacement, {
    description:
      'Replaces the uploaded file of a datasource. Readers see the former file, and with `refresh` the former rows, until ' +
      'all new rows are loaded; if that fails, they stay. Fails with `CONFLICT` if the file lacks columns of the former ' +
      'one or has values of other types in them, which `validation` lists, unless `force` is set.',
  })
  replaceDatasourceFile(
    @Ctx() ctx: Context,
    @Key('datasource') id: string,
    @Arg('input', { description: 'The new file.' }) input: ReplaceDatasourceFileInput,
    @Args(() => OperationArgs) { wait, progress }: OperationArgs,
  ) {
    return replacements.replaceFile(ctx, id, { ...input, progress }, wait);
  }

  @FieldResolver(() => Datasource, { nullable: true, description: 'The datasource. Null until the file is in place.' })
  result(
    @Ctx() ctx: Context,
    @Root() { datasourceId, operation }: replacements.DatasourceReplacement,
    @Info() info: GraphQLResolveInfo,
  ) {
    return operation.status === 'succeeded' ? ctx.read.readAfterWrite(Datasource, datasourceId, info) : null;
  }

  @FieldResolver(() => [DatasetRefresh], { description: 'Refreshes of datasets. Empty until the file is in place.' })
  refreshed(@Root() { operation }: replacements.DatasourceReplacement) {
    return (operation.result as { refreshed: DatasetRefresh[] } | null)?.refreshed ?? [];
  }
}
