import { Field, ObjectType, registerEnumType } from 'type-graphql';
import type { Field as DatasetFieldShape, FieldFormat, FieldType } from '../src/core/fields.ts';

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
    TEXT: { description: 'Long text: at least one value has more than 8,000 characters.' },
    INTEGER: { description: 'Whole numbers; texts if the field has the format `INT64`.' },
    NUMBER: { description: 'Numbers; texts if the field has the format `DECIMAL`. Infinity and NaN are null.' },
    BOOLEAN: { description: 'True or false.' },
    DATE: { description: 'Calendar dates, `YYYY-MM-DD`.' },
    DATETIME: { description: 'Points in time, ISO 8601 in UTC with milliseconds.' },
    JSON: { description: 'Any JSON value.' },
  },
});

export const FieldFormatEnum = { INT64: 'int64', DECIMAL: 'decimal' } as const satisfies Record<string, FieldFormat>;
registerEnumType(FieldFormatEnum, {
  name: 'FieldFormat',
  description: 'Format of a field whose numbers are sent as strings, because a JSON number would round them.',
  valuesConfig: {
    INT64: { description: 'Whole numbers, sent as exact strings.' },
    DECIMAL: { description: 'Decimal numbers, sent as exact strings.' },
  },
});

@ObjectType({ description: 'A field of a dataset or of a query result.' })
export class DatasetField implements DatasetFieldShape {
  @Field(() => String, { description: 'Name as the source spells it. A repeated name becomes `id_2`.' })
  name!: string;

  @Field(() => String, { description: 'Display name; equal to `name` until it is set.' })
  label!: string;

  @Field(() => FieldTypeEnum, { description: 'Type of the values.' })
  type!: FieldType;

  @Field(() => FieldFormatEnum, {
    nullable: true,
    description: 'Set if the values are sent as exact strings because a JSON number would round them.',
  })
  format?: FieldFormat;

  @Field(() => String, { nullable: true, description: 'Description.' })
  description?: string;
}
