import { Field, ID, InputType } from 'type-graphql';
import { JsonObject } from '../src/core/scalars.ts';
import { DatasourceLinkTypeEnum, type DatasourceLinkType } from './datasource-link.ts';

@InputType({ description: 'A new link between datasources.' })
export class CreateDatasourceLinkInput {
  @Field(() => ID, {
    description:
      'Id, slug or natural id of the datasource to link to. The caller must be able to read it. ' +
      'It may be the source datasource itself.',
  })
  targetDatasourceId!: string;

  @Field(() => DatasourceLinkTypeEnum, { description: 'Type of the relationship.' })
  type!: DatasourceLinkType;

  @Field(() => JsonObject, {
    nullable: true,
    description: 'Map of source fields to target fields, at most 100 entries. Default: empty.',
  })
  mappings?: Record<string, unknown> | null;
}
