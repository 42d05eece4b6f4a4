import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  Info,
  InputType,
  Mutation,
  ObjectType,
  Resolver,
  Root,
} from 'type-graphql';
import { Dataset } from '../../entities/dataset.ts';
import { Operation } from '../../entities/operation.ts';
import type { Context } from '../../src/core/context.ts';
import type { CopyParts } from '../../src/core/operations.ts';
import { Json } from '../../src/core/scalars.ts';
import type { CloneResult } from '../../src/operations/operation-results.ts';
import * as copies from '../../src/services/dataset/dataset-copy.ts';
import type { OperationRecord } from '../../src/services/operation/operation-record.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { progressName } from './dataset-run.ts';

/** A dataset that is being made of another. */
@ObjectType({ description: 'A copy, snapshot or promotion: its operation, and the dataset when it was waited for.' })
export class DatasetCopy {
  @Field(() => Operation, {
    description: 'How far it is; its `resource` is what is copied, the `id` of its `result` the new dataset’s.',
  })
  operation!: Operation;
}

/** A long call that can be followed. */
@ArgsType()
export class FollowedArgs {
  @Field(() => Json, { nullable: true, description: 'The caller’s own name for the operation, a text or number.' })
  progress?: unknown;

  @Field(() => Boolean, { defaultValue: true, description: 'Whether to answer when it is done.' })
  wait!: boolean;
}

/** What a copy gets. */
@ArgsType()
export class CopyArgs extends FollowedArgs implements CopyParts {
  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Whether it gets the rows as they are; otherwise it has none until its first refresh.',
  })
  data!: boolean;

  @Field(() => Boolean, { defaultValue: false, description: 'Whether it gets the visuals.' })
  visuals!: boolean;

  @Field(() => Boolean, {
    defaultValue: false,
    description: 'Whether it gets the saved filters that the caller reads. They keep their owners.',
  })
  filters!: boolean;

  @Field(() => Boolean, {
    defaultValue: false,
    description:
      'Whether it is shared with the same people, with each as far as before. A share of rows by a filter that the caller does not read is left out.',
  })
  sharing!: boolean;
}

/** A new copy. */
@InputType({ description: 'A new copy of a dataset.' })
export class CopyDatasetInput {
  @Field(() => String, { description: 'Display name.' })
  name!: string;
}

@Resolver(() => DatasetCopy)
export class DatasetCopyResolver {
  @Can('dataset:copy')
  @Mutation(() => DatasetCopy, {
    description:
      'Makes an independent dataset of the caller’s, with the rows as they are and their query. Who cannot read the datasource gets rows only, which no refresh replaces.',
  })
  async copyDataset(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Arg('input', { description: 'The new dataset.' }) input: CopyDatasetInput,
    @Args(() => CopyArgs) { wait, progress, ...parts }: CopyArgs,
  ) {
    return answer(await copies.copy(ctx, id, input, { ...parts, progress: progressName(progress) }, wait));
  }

  @FieldResolver(() => Dataset, { nullable: true, description: 'The dataset; null while it is not there.' })
  result(@Ctx() ctx: Context, @Root() { operation }: { operation: OperationRecord }, @Info() info: GraphQLResolveInfo) {
    return operation.status === 'succeeded'
      ? ctx.read.readAfterWrite(Dataset, (operation.result as CloneResult).id, info)
      : null;
  }
}

/** What a mutation answers whose operation makes a dataset. */
export const answer = (operation: OperationRecord): { operation: OperationRecord } => ({ operation });
