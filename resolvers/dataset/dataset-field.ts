import { Field, InputType, ObjectType, registerEnumType } from 'type-graphql';
import type { Field as FieldShape, FieldFormat, FieldType } from '../../src/core/fields.ts';
import type { FieldLabel } from '../../src/services/dataset/dataset-fields.ts';

export const FieldTypeEnum = {
  STRING: 'string',
  TEXT: 'text',
  INTEGER: 'integer',
  NUMBER: 'number',
  BOOLEAN: 'boolean',
  DATE: 'date',
  DATETIME: 'datetime',
  JSON: 'json',
} as const satisfies Record<string, FieldType>;
registerEnumType(FieldTypeEnum, {
  name: 'FieldType',
  description: 'Type of a field’s values.',
  valuesConfig: {
    STRING: { description: 'Text.' },
    TEXT: { description: 'Text with values past 8,000 characters.' },
    INTEGER: { description: 'Whole numbers.' },
    NUMBER: { description: 'Numbers.' },
    BOOLEAN: { description: 'True or false.' },
    DATE: { description: 'Days, `YYYY-MM-DD`.' },
    DATETIME: { description: 'Moments, ISO 8601 in UTC with milliseconds.' },
    JSON: { description: 'Any JSON.' },
  },
});

export const FieldFormatEnum = { INT64: 'int64', DECIMAL: 'decimal' } as const satisfies Record<string, FieldFormat>;
registerEnumType(FieldFormatEnum, {
  name: 'FieldFormat',
  description: 'Why a field’s numbers travel as exact strings.',
  valuesConfig: {
    INT64: { description: 'Whole numbers that a JSON number would round.' },
    DECIMAL: { description: 'Decimals that a JSON number would round.' },
  },
});

/** A field of a dataset or of a query's answer. */
@ObjectType({ description: 'A field of a dataset or of a query’s answer.' })
export class DatasetField implements FieldShape {
  @Field(() => String, { description: 'As the source spells it; a repeated name becomes `id_2`.' })
  name!: string;

  @Field(() => String, { description: 'What to show instead of the name.' })
  label!: string;

  @Field(() => FieldTypeEnum, { description: 'Type of its values.' })
  type!: FieldType;

  @Field(() => FieldFormatEnum, { nullable: true, description: 'Set where its values travel as exact strings.' })
  format?: FieldFormat;

  @Field(() => String, { nullable: true, description: 'What it means.' })
  description?: string;
}

/** What people say about a field. */
@InputType({ description: 'What people say about a field. It survives a refresh.' })
export class FieldLabelInput implements FieldLabel {
  @Field(() => String, { description: 'Which field.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'What to show instead of the name; null gives the name back.' })
  label?: string | null;

  @Field(() => String, { nullable: true, description: 'What it means; null clears.' })
  description?: string | null;
}
