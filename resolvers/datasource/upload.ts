import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Field, FieldResolver, Info, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { Dataset } from '../../entities/dataset.ts';
import { Datasource } from '../../entities/datasource.ts';
import { Operation } from '../../entities/operation.ts';
import { UploadDatasetInput, UploadDatasourceInput } from '../../entities/upload-input.ts';
import type { Context } from '../../src/core/context.ts';
import { PROGRESS_RULE, Rule } from '../../src/core/input-rules.ts';
import * as datasetUploads from '../../src/services/dataset/dataset-upload.ts';
import * as datasourceUploads from '../../src/services/datasource/datasource-upload.ts';
import { Can } from '../support/guard.ts';

/** Upload of a dataset. */
@ObjectType({ description: 'Upload of a dataset: the operation that loads its rows, and the dataset once loaded.' })
export class DatasetUpload {
  @Field(() => Operation, { description: 'Operation that loads the rows. Its `resource` is the dataset.' })
  operation!: Operation;
}

@Resolver(() => DatasetUpload)
export class UploadResolver {
  @Can('datasources:create')
  @Mutation(() => Datasource, {
    description: 'Creates a datasource from a file. The type is detected from the content of the file.',
  })
  async uploadDatasource(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The file and values of the new datasource.' }) input: UploadDatasourceInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Datasource, await datasourceUploads.upload(ctx, input), info);
  }

  @Can('datasets:create')
  @Mutation(() => DatasetUpload, {
    description:
      'Creates a dataset with its rows from a file, and an embedded datasource for the file. ' +
      'The datasource does not require `datasources:create`, has the dataset’s owner and is deleted with it. ' +
      'If the rows cannot be loaded, dataset, datasource and file are deleted.',
  })
  uploadDataset(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The file and values of the new dataset.' }) input: UploadDatasetInput,
    @Arg('progress', () => String, {
      nullable: true,
      description: 'Name chosen by the client, with which it can follow and cancel the operation.',
    })
    @Rule(PROGRESS_RULE)
    progress?: string | null,
    @Arg('wait', () => Boolean, {
      defaultValue: true,
      description: 'Whether to return only when the rows are loaded.',
    })
    wait: boolean = true,
  ) {
    return datasetUploads.upload(ctx, { ...input, progress }, wait);
  }

  @FieldResolver(() => Dataset, { nullable: true, description: 'The dataset. Null until its rows are loaded.' })
  result(
    @Ctx() ctx: Context,
    @Root() { datasetId, operation }: datasetUploads.DatasetUpload,
    @Info() info: GraphQLResolveInfo,
  ) {
    return operation.status === 'succeeded' ? ctx.read.readAfterWrite(Dataset, datasetId, info) : null;
  }
}
