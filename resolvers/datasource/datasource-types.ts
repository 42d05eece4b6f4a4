import { Field, Float, InputType, Int, ObjectType } from 'type-graphql';
import { UpdateOwnedInput } from '../../entities/owned-input.ts';
import type {
  ConnectionTest as ConnectionTestShape,
  SourceTable as SourceTableShape,
} from '../../src/core/row-source.ts';
import { JsonObject } from '../../src/core/scalars.ts';

/** A kind of source. */
@ObjectType({ description: 'A kind of source that this service can read.' })
export class DatasourceDriver {
  @Field(() => String, { description: 'The `type` of its datasources.' }) id!: string;
  @Field(() => String, { description: 'Name to show.' }) name!: string;
  @Field(() => Int, { nullable: true, description: 'Port where such sources usually listen.' }) defaultPort!:
    | number
    | null;
  @Field(() => [String], { description: 'What it can do, e.g. `sql`, `schema`, `cancel`.' }) features!: string[];
  @Field(() => JsonObject, { description: 'JSON Schema of a datasource’s `config`.' }) configSchema!: Record<
    string,
    unknown
  >;
  @Field(() => JsonObject, { description: 'JSON Schema of its `secrets`.' }) secretsSchema!: Record<string, unknown>;
}

/** Answer of a connection test. */
@ObjectType({ description: 'Answer of a connection test.' })
export class ConnectionTest implements ConnectionTestShape {
  @Field(() => Boolean, { description: 'Whether the source can be used.' }) ok!: boolean;
  @Field(() => Int, { description: 'Milliseconds.' }) latency!: number;
  @Field(() => String, { nullable: true, description: 'Version of the source.' }) version!: string | null;
  @Field(() => [String], { description: 'What should be looked at, e.g. a role that can write.' }) warnings!: string[];
  @Field(() => String, { nullable: true, description: 'Why it cannot be used.' }) message!: string | null;
}

/** A column of a table. */
@ObjectType({ description: 'A column of a source’s table.' })
export class SourceColumn {
  @Field(() => String, { description: 'Its name.' }) name!: string;
  @Field(() => String, { description: 'Type in the source’s own words.' }) type!: string;
  @Field(() => Boolean, { description: 'Whether values may be missing.' }) nullable!: boolean;
  @Field(() => Boolean, { description: 'Whether it belongs to the primary key.' }) primaryKey!: boolean;
}

/** A table or view of a source. */
@ObjectType({ description: 'A table or view of a source.' })
export class SourceTable implements SourceTableShape {
  @Field(() => String, { description: 'The schema it is in.' }) schema!: string;
  @Field(() => String, { description: 'Its name.' }) name!: string;
  @Field(() => String, { description: '`table` or `view`.' }) type!: 'table' | 'view';
  @Field(() => [SourceColumn], { description: 'Its columns, in order.' }) columns!: SourceColumn[];
}

/** What a datasource holds. */
@ObjectType({ description: 'What a datasource holds, as far as its role may see it.' })
export class DatasourceSchema {
  @Field(() => [SourceTable], { description: 'Tables and views.' }) tables!: SourceTable[];
}

/** An uploaded file. */
@ObjectType({ description: 'The file that a datasource is.' })
export class DatasourceFile {
  @Field(() => String, { description: 'As whoever gave it calls it.' }) filename!: string;
  @Field(() => Float, { description: 'Bytes.' }) size!: number;
  @Field(() => String, { description: 'Media type, as whoever gave it says.' }) contentType!: string;
}

/** Changes of a datasource. */
@InputType({ description: 'Changes of a datasource. Absent keys stay as they are, null clears.' })
export class UpdateDatasourceInput extends UpdateOwnedInput {
  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Where it is, as the driver’s JSON Schema says; replaces the former. Needs `datasources:create` when it changes, unless it is an uploaded file.',
  })
  config?: Record<string, unknown>;

  @Field(() => JsonObject, {
    nullable: true,
    description:
      'Write-only, e.g. `password`. Absent keeps them, null clears. Required when the host or another part of the way there changes.',
  })
  secrets?: Record<string, unknown> | null;
}

/** A new datasource. */
@InputType({ description: 'A new datasource.' })
export class CreateDatasourceInput extends UpdateDatasourceInput {
  @Field(() => String, { description: 'Display name.' })
  override name!: string;

  @Field(() => String, { description: 'Id of its driver. What is an uploaded file is made by `uploadDatasource`.' })
  type!: string;
}

/** A query to run at once. */
@InputType({ description: 'A query to run at once, read-only.' })
export class AdHocQueryInput {
  @Field(() => String, { description: 'One statement; `{{name}}` stands for a value.' })
  query!: string;

  @Field(() => JsonObject, { nullable: true, description: 'Values by name. They are bound, never pasted.' })
  params?: Record<string, unknown>;

  @Field(() => Int, { nullable: true, description: 'Rows wanted, 1 to 1000. Default 100.' })
  limit?: number;
}
