import { Field, ID, InputType } from 'type-graphql';
import { PART_NAME_RULE, Rule, UUID_RULE } from '../src/core/input-rules.ts';
import { JsonObject } from '../src/core/scalars.ts';
import { TemplateProcessorTypeEnum, type TemplateProcessorType } from './template-processor.ts';

@InputType({ description: 'A processor of a template, in the list that replaces all of them.' })
export class TemplateProcessorInput {
  @Rule(UUID_RULE)
  @Field(() => ID, {
    nullable: true,
    description: 'Id of the processor that this changes. Without one: the processor of the same name, or a new one.',
  })
  id?: string | null;

  @Rule(PART_NAME_RULE)
  @Field(() => String, {
    description:
      'Name: 1 to 63 letters, digits and `_`, no digit first, unique among the inputs and processors of the template, and ' +
      'no word of documents such as `data` or `loop`.',
  })
  name!: string;

  @Field(() => TemplateProcessorTypeEnum, { description: 'Kind of data source.' })
  type!: TemplateProcessorType;

  @Field(() => JsonObject, {
    description:
      'Configuration for the type, at most 64 KiB as JSON and 20 levels deep. DATASET: `{datasetId, filter, q, sort, ' +
      'fields, limit}` (10,000 rows by default, at most 50,000); AGGREGATE: `{datasetId, groupBy, measures, filter, q, ' +
      'sort, limit}`; VISUAL: `{datasetId, visualId, width, height}`; QUERY: `{queryId, params}`. The ids are required. ' +
      '`{"$input": "name"}` stands for the value of an input.',
  })
  config!: Record<string, unknown>;
}
