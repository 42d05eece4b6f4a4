import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Field, FieldResolver, Info, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { DatasetField } from '../../entities/dataset-field.ts';
import { Dataset } from '../../entities/dataset.ts';
import { Datasource } from '../../entities/datasource.ts';
import { Operation } from '../../entities/operation.ts';
import { UploadDatasetInput, UploadDatasourceInput } from '../../entities/upload-input.ts';
import type { Context } from '../../src/core/context.ts';
import { PROGRESS_RULE, Rule } from '../../src/core/input-rules.ts';
import { JsonObject } from '../../src/core/scalars.ts';
import * as datasetPreviews from '../../src/services/dataset/dataset-upload-preview.ts';
import * as datasetUploads from '../../src/services/dataset/dataset-upload.ts';
import * as datasourceUploads from '../../src/services/datasource/datasource-upload.ts';
import { Can } from '../support/guard.ts';
import { UploadProblemType } from './datasource-types.ts';

@ObjectType({ description: 'Upload of a dataset: the operation that loads its rows, and the dataset once loaded.' })
export class DatasetUpload {
  @Field(() => Operation, { description: 'Operation that loads the rows. Its `resource` is the dataset.' })
  operation!: Operation;

  @Field(() => [UploadProblemType], { description: 'Doubts about the file, as in its preview.' })
  problems!: UploadProblemType[];
}

@ObjectType('UploadPreview', { description: 'How a file would be uploaded, and its first rows. Nothing is stored.' })
export class UploadPreviewType implements datasetPreviews.UploadPreview {
  @Field(() => JsonObject, {
    description: 'Settings of the driver with which the file is read. Empty if it cannot be read.',
  })
  config!: Record<string, unknown>;

  @Field(() => [DatasetField], { description: 'Fields of the rows.' })
  fields!: DatasetField[];

  @Field(() => [JsonObject], { description: 'The first rows as objects, by field name, at most 50.' })
  rows!: Record<string, unknown>[];

  @Field(() => [UploadProblemType], {
    description:
      'Doubts: guesses, lines left out, lines that cannot be read, columns that can be read in several ways.',
  })
  problems!: UploadProblemType[];
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

  @Can('datasets:create')
  @Mutation(() => UploadPreviewType, {
    description:
      'Recognises a file as `uploadDataset` does and returns its first rows. Nothing is stored, and `flow` is checked but not ' +
      'applied. Set `config` to change the recognised settings.',
  })
  previewUpload(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The file and values of the new dataset.' }) input: UploadDatasetInput,
  ) {
    return datasetPreviews.preview(ctx, input);
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
