import { Arg, Args, Ctx, Field, Float, ID, Int, Mutation, ObjectType, registerEnumType, Resolver } from 'type-graphql';
import { FieldTypeEnum } from '../../entities/dataset-field.ts';
import { Operation } from '../../entities/operation.ts';
import type { Context } from '../../src/core/context.ts';
import type { FieldType } from '../../src/core/fields.ts';
import { DateTime } from '../../src/core/scalars.ts';
import type { Break } from '../../src/services/dataset/refresh-impact.ts';
import * as previews from '../../src/services/dataset/refresh-preview.ts';
import { OperationArgs, parseProgress, toPayload } from '../operation/operation-arguments.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { DatasetRefreshPayload, RefreshArgs } from './dataset-refresh.ts';

const RefreshBreakKindEnum = {
  VISUAL: 'visual',
  FILTER: 'filter',
  SHARE: 'share',
  REFERENCE: 'reference',
} as const satisfies Record<string, Break['kind']>;
registerEnumType(RefreshBreakKindEnum, {
  name: 'RefreshBreakKind',
  description: 'What a refresh would break.',
  valuesConfig: {
    VISUAL: { description: 'A visual of the dataset.' },
    FILTER: { description: 'A saved filter.' },
    SHARE: { description: 'A share that shows a part of the dataset.' },
    REFERENCE: { description: 'The dataset as a report shows it.' },
  },
});

/** A field with its type. */
@ObjectType({ description: 'A field that comes or goes with a refresh.' })
export class RefreshedField {
  @Field(() => String, { description: 'As the source spells it.' }) name!: string;
  @Field(() => FieldTypeEnum, { description: 'Type of its values.' }) type!: FieldType;
}

/** A field whose type changes. */
@ObjectType({ description: 'A field whose type changes with a refresh.' })
export class RetypedField {
  @Field(() => String, { description: 'As the source spells it.' }) name!: string;
  @Field(() => FieldTypeEnum, { description: 'Type of its values now.' }) from!: FieldType;
  @Field(() => FieldTypeEnum, { description: 'Type of its values then.' }) to!: FieldType;
}

/** Something that a refresh would break. */
@ObjectType({
  description: 'Something that works with the fields as they are and would not with those that a refresh brings.',
})
export class RefreshBreak implements Break {
  @Field(() => RefreshBreakKindEnum, { description: 'What it is.' }) kind!: Break['kind'];
  @Field(() => ID, { description: 'Its id; of a share whom it is for, of a reference its alias.' }) id!: string;
  @Field(() => ID, { nullable: true, description: 'Of a reference: its report. Null of what belongs to the dataset.' })
  reportId!: string | null;
  @Field(() => String, { description: 'Its name; of a share that of whom it is for, of a reference its label.' })
  name!: string;
  @Field(() => String, { description: 'Why it would not work, one sentence for people.' }) problem!: string;
}

/** What a refresh would do. */
@ObjectType({ description: 'What a refresh would do, and its rows, which nobody sees until they are promoted.' })
export class RefreshPreview implements previews.RefreshPreviewResult {
  @Field(() => ID, { description: 'Names the rows to `promoteRefresh`; published, they are the dataset’s `esIndex`.' })
  previewId!: string;
  @Field(() => Float, { description: 'Rows then.' }) records!: number;
  @Field(() => Float, { description: 'Rows now.' }) previousRecordCount!: number;
  @Field(() => [RefreshedField], { description: 'Fields that are new.' }) fieldsAdded!: RefreshedField[];
  @Field(() => [RefreshedField], { description: 'Fields that go.' }) fieldsRemoved!: RefreshedField[];
  @Field(() => [RetypedField], { description: 'Fields whose type changes.' }) fieldsRetyped!: RetypedField[];
  @Field(() => [RefreshBreak], { description: 'What works now and would not then, as far as the caller may read it.' })
  breaks!: RefreshBreak[];
  @Field(() => Int, {
    description: 'How many more, which the caller may not read: private filters of others, and reports.',
  })
  hiddenBreaks!: number;
  @Field(() => DateTime, {
    description: 'Until when the rows are kept, unless another preview of the dataset takes their place.',
  })
  expiresAt!: string;
}

/** A rehearsed refresh that was started. */
@ObjectType({ description: 'A rehearsed refresh: its operation, and its result when it was waited for.' })
export class RefreshPreviewPayload {
  @Field(() => Operation, { description: 'How far it is.' }) operation!: Operation;
  @Field(() => RefreshPreview, { nullable: true, description: 'What it came to; null when it was not waited for.' })
  result!: RefreshPreview | null;
}

@Resolver()
export class RefreshPreviewResolver {
  @Can('dataset:refresh')
  @Mutation(() => RefreshPreviewPayload, {
    description:
      'Rehearses a refresh: loads the rows of the dataset’s query where no reader sees them, and says what publishing them would change and break. They are kept for an hour; a dataset has one preview at most.',
  })
  async previewRefresh(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Args(() => RefreshArgs) { wait, progress, ...options }: RefreshArgs,
  ) {
    return toPayload(await previews.preview(ctx, id, { ...options, progress: parseProgress(progress) }, wait));
  }

  @Can('dataset:refresh')
  @Mutation(() => DatasetRefreshPayload, {
    description:
      'Publishes the very rows of a rehearsed refresh, without loading them again. 409 when rows or definition of the dataset were replaced since.',
  })
  async promoteRefresh(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Arg('previewId', () => ID, { description: 'The `previewId` that `previewRefresh` answered.' }) previewId: string,
    @Args(() => OperationArgs) { wait, progress }: OperationArgs,
  ) {
    return toPayload(await previews.promote(ctx, id, previewId, parseProgress(progress), wait));
  }
}
