import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { JsonObject } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** Keys are the names in GraphQL, values are the stored words. */
export const TemplateProcessorTypeEnum = {
  DATASET: 'dataset',
  AGGREGATE: 'aggregate',
  VISUAL: 'visual',
  QUERY: 'query',
} as const;
export type TemplateProcessorType = (typeof TemplateProcessorTypeEnum)[keyof typeof TemplateProcessorTypeEnum];
registerEnumType(TemplateProcessorTypeEnum, {
  name: 'TemplateProcessorType',
  description: 'Type of data that a processor of a template reads.',
  valuesConfig: {
    DATASET: { description: 'Rows of a dataset: `{rows, fields, total, truncated}`.' },
    AGGREGATE: { description: 'Groups and measures of a dataset: `{columns, rows, total, truncated}`.' },
    VISUAL: { description: 'A picture of a visual, and its rows: `{svg, rows}`.' },
    QUERY: { description: 'Rows of a saved query, which is run: `{fields, rows, truncated}`.' },
  },
});

@ObjectType({
  description: 'A source of data of a template, which a rendering reads with the access of its caller.',
  implements: Node,
})
@Entity()
export class TemplateProcessor extends TenantRow {
  @Field(() => ID, { description: 'Id of the template.' })
  @Property({ type: 'uuid' })
  templateId!: string;

  /** Position among the processors of the template, from 0. */
  @Property({ type: 'integer' })
  position!: number;

  @Field(() => String, { description: 'Name under which documents find the data.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => TemplateProcessorTypeEnum, { description: 'Kind of data source.' })
  @Enum({ items: () => Object.values(TemplateProcessorTypeEnum), type: 'text' })
  type!: TemplateProcessorType;

  @Field(() => JsonObject, {
    description: 'Configuration for the type. `{"$input": "name"}` stands for the value of an input.',
  })
  @Property({ type: 'json' })
  config: Record<string, unknown> = {};

  /** In a draft: id of the processor that this is a copy of. Null for a new one, and outside drafts. */
  @Property({ type: 'uuid', nullable: true })
  originalId?: string | null;
}
