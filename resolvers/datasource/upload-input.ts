import { Field, InputType } from 'type-graphql';
import { UpdateOwnedInput } from '../../entities/owned-input.ts';
import { QueryParameter } from '../../entities/query-parameter.ts';
import type { IncomingFile } from '../../src/core/files.ts';
import { JsonObject, Upload } from '../../src/core/scalars.ts';

/** A file that becomes a datasource. */
@InputType({
  description:
    'A file that becomes a datasource. Its name is the filename without extension unless `name` says otherwise.',
})
export class UploadDatasourceInput extends UpdateOwnedInput {
  @Field(() => Upload, { description: 'The file. In a form, the first file part, whatever it is called.' })
  file!: IncomingFile;

  @Field(() => String, {
    nullable: true,
    description: 'Name of the file, with its extension. In a form, the file part’s own by default.',
  })
  filename?: string | null;

  @Field(() => JsonObject, {
    nullable: true,
    description: 'What of the driver’s config shall be otherwise than found in the file, e.g. the delimiter.',
  })
  config?: Record<string, unknown> | null;
}

/** A file that becomes a dataset. */
@InputType({
  description:
    'A file that becomes a dataset with its rows. Its name is the filename without extension unless `name` says otherwise.',
})
export class UploadDatasetInput extends UploadDatasourceInput {
  @Field(() => String, {
    nullable: true,
    description: 'The table to load. Needed, unless `query` is there, of a file that has several.',
  })
  table?: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      'A query on the file instead of all of its rows: one statement; `{{name}}` stands for the value of a parameter.',
  })
  query?: string | null;

  @Field(() => [QueryParameter], { nullable: true, description: 'Parameters of the query.' })
  params?: QueryParameter[] | null;

  @Field(() => [JsonObject], {
    nullable: true,
    description:
      'Steps that its rows pass when they are loaded: `filter`, `sort`, `limit`, `rename`, `remove`, `calculate`.',
  })
  flow?: Record<string, unknown>[] | null;

  @Field(() => JsonObject, { nullable: true, description: 'Settings of its front-ends.' })
  settings?: Record<string, unknown> | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether shares may restrict fields.' })
  fieldSecurityEnabled?: boolean | null;
}
