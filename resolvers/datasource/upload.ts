import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Field, FieldResolver, Info, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { Dataset } from '../../entities/dataset.ts';
import { Datasource } from '../../entities/datasource.ts';
import { Operation } from '../../entities/operation.ts';
import type { Context } from '../../src/core/context.ts';
import { Json } from '../../src/core/scalars.ts';
import * as datasetUploads from '../../src/services/dataset/dataset-upload.ts';
import * as datasourceUploads from '../../src/services/datasource/datasource-upload.ts';
import { parseProgress } from '../operation/operation-arguments.ts';
import { Can } from '../support/guard.ts';
import { UploadDatasetInput, UploadDatasourceInput } from './upload-input.ts';

/** A file that was taken. */
@ObjectType({ description: 'An upload of a dataset: the loading of its rows, and the dataset when it was waited for.' })
export class DatasetUpload {
  @Field(() => Operation, { description: 'How far the loading is; its `resource` is the dataset.' })
  operation!: Operation;
}

@Resolver(() => DatasetUpload)
export class UploadResolver {
  @Can('datasources:create')
  @Mutation(() => Datasource, { description: 'Makes a datasource of a file; its content says of which type.' })
  async uploadDatasource(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The file.' }) input: UploadDatasourceInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Datasource, await datasourceUploads.upload(ctx, input), info);
  }

  @Can('datasets:create')
  @Mutation(() => DatasetUpload, {
    description:
      'Makes a dataset of a file, with its rows. The datasource that the file becomes needs no `datasources:create`, belongs to the dataset’s owner and goes with the dataset. When the rows cannot be loaded, nothing of it stays.',
  })
  uploadDataset(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The file.' }) input: UploadDatasetInput,
    @Arg('progress', () => Json, {
      nullable: true,
      description: 'The caller’s own name for the loading, a text or number.',
    })
    progress?: unknown,
    @Arg('wait', () => Boolean, { defaultValue: true, description: 'Whether to answer when the rows are there.' })
    wait: boolean = true,
  ) {
    return datasetUploads.upload(ctx, { ...input, progress: parseProgress(progress) }, wait);
  }

  @FieldResolver(() => Dataset, { nullable: true, description: 'The dataset; null while its rows are not there.' })
  result(
    @Ctx() ctx: Context,
    @Root() { datasetId, operation }: datasetUploads.DatasetUpload,
    @Info() info: GraphQLResolveInfo,
  ) {
    return operation.status === 'succeeded' ? ctx.read.readAfterWrite(Dataset, datasetId, info) : null;
  }
}
