import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import type { Field as DatasetFieldShape } from '../src/core/fields.ts';
import type { ParameterDefinition } from '../src/core/parameters.ts';
import { Node } from './node.ts';
import { OwnedRow } from './owned-row.ts';
import { QueryParameter } from './query-parameter.ts';

/** A query that is kept by name, with typed parameters (contract 5). */
@ObjectType({ description: 'A query that is kept by name, with typed parameters.', implements: Node })
@Entity()
export class SavedQuery extends OwnedRow {
  @Field(() => ID, { description: 'The datasource it runs on.' })
  @Property({ type: 'uuid' })
  datasourceId!: string;

  @Field(() => String, { description: 'Its language: `sql`.' })
  @Property({ type: 'text' })
  language: string = 'sql';

  @Property({ type: 'text' })
  query!: string;

  @Field(() => [QueryParameter], { description: 'Its parameters.' })
  @Property({ type: 'json' })
  params: ParameterDefinition[] = [];

  /** What the query answers with, as the source described it when the query was saved; empty when it could not say. */
  @Property({ type: 'json' })
  fields: DatasetFieldShape[] = [];
}
