import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  Info,
  Mutation,
  ObjectType,
  Resolver,
  Root,
} from 'type-graphql';
import { CopyDatasetInput } from '../../entities/dataset-copy-input.ts';
import { Dataset } from '../../entities/dataset.ts';
import { Operation } from '../../entities/operation.ts';
import type { Context } from '../../src/core/context.ts';
import type { CopyParts } from '../../src/core/operations.ts';
import type { CloneResult } from '../../src/operations/operation-results.ts';
import * as copies from '../../src/services/dataset/dataset-copy.ts';
import type { OperationRecord } from '../../src/services/operation/operation-record.ts';
import { OperationArgs } from '../operation/operation-arguments.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

@ObjectType({ description: 'A copy, snapshot or promotion: its operation and, if the call waited, the new dataset.' })
export class DatasetCopy {
  @Field(() => Operation, {
    description: 'Status and progress. `resource` is the original; `id` in `result` is the new dataset.',
  })
  operation!: Operation;
}

@ArgsType()
class CopyArgs extends OperationArgs implements CopyParts {
  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Whether to copy the current rows. If false, the copy has no rows until its first refresh.',
  })
  data!: boolean;

  @Field(() => Boolean, { defaultValue: false, description: 'Whether to copy the visuals.' })
  visuals!: boolean;

  @Field(() => Boolean, {
    defaultValue: false,
    description: 'Whether to copy the saved filters that the caller can read. The copied filters keep their owners.',
  })
  filters!: boolean;

  @Field(() => Boolean, {
    defaultValue: false,
    description:
      'Whether to copy the shares with their levels and restrictions. A share that is restricted by a saved filter ' +
      'which the caller cannot read is not copied.',
  })
  sharing!: boolean;
}

@Resolver(() => DatasetCopy)
export class DatasetCopyResolver {
  @Can('dataset:copy')
  @Mutation(() => DatasetCopy, {
    description:
      'Creates an independent dataset, owned by the caller, with the current rows and the query. If the caller ' +
      'cannot read the datasource, the copy has only the rows and cannot be refreshed.',
  })
  async copyDataset(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Arg('input', { description: 'The new dataset.' }) input: CopyDatasetInput,
    @Args(() => CopyArgs) { wait, progress, ...parts }: CopyArgs,
  ) {
    return toDatasetCopy(await copies.copy(ctx, id, input, { ...parts, progress }, wait));
  }

  @FieldResolver(() => Dataset, { nullable: true, description: 'The new dataset; null while the operation runs.' })
  result(@Ctx() ctx: Context, @Root() { operation }: { operation: OperationRecord }, @Info() info: GraphQLResolveInfo) {
    return operation.status === 'succeeded'
      ? ctx.read.readAfterWrite(Dataset, (operation.result as CloneResult).id, info)
      : null;
  }
}

/** Returns the source value of `DatasetCopy` for an operation that creates a dataset. */
export const toDatasetCopy = (operation: OperationRecord): { operation: OperationRecord } => ({ operation });
