import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import type { Field as DatasetFieldShape } from '../src/core/fields.ts';
import type { ParameterDefinition } from '../src/core/parameters.ts';
import { Node } from './node.ts';
import { OwnedRow } from './owned-row.ts';
import { QueryParameter } from './query-parameter.ts';
import { wordEnum } from './word-enum.ts';

const QueryLanguageEnum = wordEnum(
  'QueryLanguage',
  'Language of a saved query.',
  ['sql'],
  () => 'SQL of the datasource.',
);

/** See docs/contract/datasources.md#saved-queries. */
@ObjectType({ description: 'A named query on a datasource, with typed parameters.', implements: Node })
@Entity()
export class SavedQuery extends OwnedRow {
  @Field(() => ID, { description: 'Id of the datasource that the query runs on.' })
  @Property({ type: 'uuid' })
  datasourceId!: string;

  @Field(() => QueryLanguageEnum, { description: 'Query language.' })
  @Property({ type: 'text' })
  language: string = 'sql';

  @Property({ type: 'text' })
  query!: string;

  @Field(() => [QueryParameter], { description: 'Definitions of the query’s parameters.' })
  @Property({ type: 'json' })
  params: ParameterDefinition[] = [];

  /** Fields of the result as the source describes them; empty if it cannot, null until they are first read. */
  @Property({ type: 'json', nullable: true })
  fields: DatasetFieldShape[] | null = null;
}
