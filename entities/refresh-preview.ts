import { Field, Float, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { FieldType } from '../src/core/fields.ts';
import { DateTime } from '../src/core/scalars.ts';
import { UuidField } from '../src/core/uuid-field.ts';
import { FieldTypeEnum } from './dataset-field.ts';

const RefreshBreakKindEnum = {
  VISUAL: 'visual',
  FILTER: 'filter',
  SHARE: 'share',
  REFERENCE: 'reference',
} as const;
registerEnumType(RefreshBreakKindEnum, {
  name: 'RefreshBreakKind',
  description: 'Kind of a dependent that a refresh would break.',
  valuesConfig: {
    VISUAL: { description: 'A visual of the dataset.' },
    FILTER: { description: 'A saved filter of the dataset.' },
    SHARE: { description: 'A share that shows some rows or fields of the dataset.' },
    REFERENCE: { description: 'A reference of a report to the dataset.' },
  },
});

@ObjectType({ description: 'A field that a refresh would add or remove.' })
class RefreshedField {
  @Field(() => String, { description: 'Name as the source spells it.' })
  name!: string;

  @Field(() => FieldTypeEnum, { description: 'Type of the values.' })
  type!: FieldType;
}

@ObjectType({ description: 'A field whose type a refresh would change.' })
class RetypedField {
  @Field(() => String, { description: 'Name as the source spells it.' })
  name!: string;

  @Field(() => FieldTypeEnum, { description: 'Current type of the values.' })
  from!: FieldType;

  @Field(() => FieldTypeEnum, { description: 'Type of the values after the refresh.' })
  to!: FieldType;
}

/** A dependent that a refresh would break. */
@ObjectType({
  description: 'A dependent that the refresh would break: it works with the current fields, but not with the new ones.',
})
export class RefreshBreak {
  @Field(() => RefreshBreakKindEnum, { description: 'Kind of the dependent.' })
  kind!: 'visual' | 'filter' | 'share' | 'reference';

  /** Its name in GraphQL is not `id`: two previews can contain the same dependent with different problems. */
  @Field(() => ID, {
    name: 'key',
    description: 'Id of a visual or filter; id of the user or `team:<id>` of a share; alias of a reference.',
  })
  id!: string;

  @UuidField()
  @Field(() => ID, { nullable: true, description: 'Id of the report of a reference. Null for the other kinds.' })
  reportId!: string | null;

  @Field(() => String, { description: 'Display name: the recipient of a share, the label of a reference.' })
  name!: string;

  @Field(() => String, { description: 'Reason, as one sentence.' })
  problem!: string;
}

@ObjectType({ description: 'Changes that a refresh would cause. Its rows are stored, but not visible until promoted.' })
export class RefreshPreview {
  @UuidField()
  @Field(() => ID, { description: 'Id for `promoteRefresh`. Once promoted, it is the `esIndex` of the dataset.' })
  previewId!: string;

  @Field(() => Float, { description: 'Number of rows after the refresh.' })
  records!: number;

  @Field(() => Float, { description: 'Current number of rows.' })
  previousRecordCount!: number;

  @Field(() => [RefreshedField], { description: 'Fields that the refresh would add.' })
  fieldsAdded!: RefreshedField[];

  @Field(() => [RefreshedField], { description: 'Fields that the refresh would remove.' })
  fieldsRemoved!: RefreshedField[];

  @Field(() => [RetypedField], { description: 'Fields whose type the refresh would change.' })
  fieldsRetyped!: RetypedField[];

  @Field(() => [RefreshBreak], { description: 'Dependents that the refresh would break and the caller may read.' })
  breaks!: RefreshBreak[];

  @Field(() => Int, {
    description:
      'Number of further dependents that the refresh would break and the caller may not read: ' +
      'private filters of other users, and reports.',
  })
  hiddenBreaks!: number;

  @Field(() => DateTime, {
    description: 'Time at which the rows are deleted, unless another preview of the dataset replaces them earlier.',
  })
  expiresAt!: string;
}
