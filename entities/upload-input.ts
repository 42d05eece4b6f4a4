import { Field, InputType } from 'type-graphql';
import type { IncomingFile } from '../src/core/files.ts';
import { FlowStepScalar } from '../src/core/query-language.ts';
import { FileContent, JsonObject } from '../src/core/scalars.ts';
import { UpdateOwnedInput } from './owned-input.ts';
import { QueryParameter } from './query-parameter.ts';

const FILE = 'The file. In a form: the first file part, with any part name.';
const FILENAME = 'File name with its extension. In a form, the file name of the file part by default.';

@InputType({
  description: 'A new datasource from a file. `name` defaults to the file name without its extension.',
})
export class UploadDatasourceInput extends UpdateOwnedInput {
  @Field(() => FileContent, { description: FILE })
  file!: IncomingFile;

  @Field(() => String, { nullable: true, description: FILENAME })
  filename?: string | null;

  @Field(() => JsonObject, {
    nullable: true,
    description: 'Settings that replace detection, e.g. the delimiter. The remaining ones are detected to match.',
  })
  config?: Record<string, unknown> | null;
}

@InputType({ description: 'A new file of a datasource that has an uploaded file.' })
export class ReplaceDatasourceFileInput {
  @Field(() => FileContent, { description: FILE })
  file!: IncomingFile;

  @Field(() => String, { nullable: true, description: FILENAME })
  filename?: string | null;

  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Settings that replace the settings of the former file, which are kept for a file of the same format, columns by ' +
      'their names. Settings that neither decides are detected.',
  })
  config?: Record<string, unknown> | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether a file is accepted that lacks columns of the former one, or has values of other types in them. Default: false.',
  })
  force?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether the rows of the datasets that the caller may refresh are replaced together with the file. Default: false.',
  })
  refresh?: boolean | null;
}

/** A new dataset from a file. */
@InputType({
  description: 'A new dataset with its rows from a file. `name` defaults to the file name without its extension.',
})
export class UploadDatasetInput extends UploadDatasourceInput {
  @Field(() => String, {
    nullable: true,
    description: 'Name of the table to load. Required for a file with several tables, unless `query` is set.',
  })
  table?: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Query on the file that selects the rows to load, instead of `table`: a single SQL statement. ' +
      '`{{name}}` is a placeholder for the value of a parameter.',
  })
  query?: string | null;

  @Field(() => [QueryParameter], {
    nullable: true,
    description: 'Definitions of the query’s parameters, at most 100.',
  })
  params?: QueryParameter[] | null;

  @Field(() => [FlowStepScalar], {
    nullable: true,
    description: 'Steps that transform the rows when they are loaded, in order; at most 100.',
  })
  flow?: Record<string, unknown>[] | null;

  @Field(() => JsonObject, {
    nullable: true,
    description: 'Settings of client applications. Not interpreted by the service.',
  })
  settings?: Record<string, unknown> | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether shares may restrict fields. Default: false.' })
  fieldSecurityEnabled?: boolean | null;
}
