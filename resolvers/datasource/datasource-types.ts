import { Field, Float, Int, ObjectType } from 'type-graphql';
import type { ConnectionTest, FileProblem, SourceTable } from '../../src/core/row-source.ts';
import { JsonObject } from '../../src/core/scalars.ts';

@ObjectType({ description: 'A type of datasource that the service can read.' })
export class DatasourceDriver {
  @Field(() => String, { description: 'Id of the driver: the `type` of its datasources.' })
  id!: string;

  @Field(() => String, { description: 'Display name.' })
  name!: string;

  @Field(() => Int, { nullable: true, description: 'Default port of the server. Null for file types.' })
  defaultPort!: number | null;

  @Field(() => [String], { description: 'Features of the driver, e.g. `sql`, `schema`, `cancel`.' })
  features!: string[];

  @Field(() => JsonObject, { description: 'JSON Schema of a datasource’s `config`.' })
  configSchema!: Record<string, unknown>;

  @Field(() => JsonObject, { description: 'JSON Schema of a datasource’s `secrets`.' })
  secretsSchema!: Record<string, unknown>;
}

@ObjectType('ConnectionTest', { description: 'Result of a connection test.' })
export class ConnectionTestType implements ConnectionTest {
  @Field(() => Boolean, { description: 'Whether the datasource can be used.' })
  ok!: boolean;

  @Field(() => Int, { description: 'Latency in milliseconds.' })
  latency!: number;

  @Field(() => String, { nullable: true, description: 'Version of the server or of the file format.' })
  version!: string | null;

  @Field(() => [String], { description: 'Warnings, e.g. that the role has write access.' })
  warnings!: string[];

  @Field(() => String, { nullable: true, description: 'Error message if the datasource cannot be used.' })
  message!: string | null;
}

@ObjectType('SourceColumn', { description: 'A column of a table in a datasource.' })
class SourceColumnType {
  @Field(() => String, { description: 'Name of the column.' })
  name!: string;

  @Field(() => String, { description: 'Data type as named by the source.' })
  type!: string;

  @Field(() => Boolean, { description: 'Whether the column can be null.' })
  nullable!: boolean;

  @Field(() => Boolean, { description: 'Whether the column is part of the primary key.' })
  primaryKey!: boolean;
}

@ObjectType('SourceTable', { description: 'A table or view of a datasource.' })
class SourceTableType implements SourceTable {
  @Field(() => String, { description: 'Name of the schema that contains the table.' })
  schema!: string;

  @Field(() => String, { description: 'Name of the table.' })
  name!: string;

  @Field(() => String, { description: '`table` or `view`.' })
  type!: 'table' | 'view';

  @Field(() => [SourceColumnType], { description: 'Columns in order.' })
  columns!: SourceColumnType[];
}

@ObjectType({ description: 'Tables and views of a datasource that its role can see.' })
export class DatasourceSchema {
  @Field(() => [SourceTableType], { description: 'Tables and views.' })
  tables!: SourceTableType[];
}

@ObjectType({ description: 'Uploaded file of a datasource.' })
export class DatasourceFile {
  @Field(() => String, { description: 'Original file name.' })
  filename!: string;

  @Field(() => Float, { description: 'Size in bytes.' })
  size!: number;

  @Field(() => String, { description: 'Media type as sent by the client.' })
  contentType!: string;
}

@ObjectType('UploadProblem', {
  description:
    'A doubt about a file: a guess, an omission, or a place that can be read in several ways or not at all. The ' +
    'message names the setting of `config` that changes it.',
})
export class UploadProblemType implements FileProblem {
  @Field(() => Int, { nullable: true, description: 'Number of the line, from 1.' })
  line?: number;

  @Field(() => String, { nullable: true, description: 'Name of the column.' })
  column?: string;

  @Field(() => String, { description: 'Error or doubt.' })
  message!: string;
}
