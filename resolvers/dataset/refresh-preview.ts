import { Arg, Args, Ctx, Field, ID, Mutation, ObjectType, Resolver } from 'type-graphql';
import { Operation } from '../../entities/operation.ts';
import { RefreshPreview } from '../../entities/refresh-preview.ts';
import type { Context } from '../../src/core/context.ts';
import * as previews from '../../src/services/dataset/refresh-preview.ts';
import { OperationArgs, toPayload } from '../operation/operation-arguments.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { DatasetRefreshPayload, RefreshArgs } from './dataset-refresh.ts';

@ObjectType({ description: 'A refresh preview: its operation, and its result if the call waited for it.' })
class RefreshPreviewPayload {
  @Field(() => Operation, { description: 'Operation that loads the rows.' })
  operation!: Operation;

  @Field(() => RefreshPreview, { nullable: true, description: 'Result. Null when the call did not wait for it.' })
  result!: RefreshPreview | null;
}

@Resolver()
export class RefreshPreviewResolver {
  @Can('dataset:refresh')
  @Mutation(() => RefreshPreviewPayload, {
    description:
      'Previews a refresh: loads the rows of the dataset’s query without publishing them, and returns the changes ' +
      'and breaks that publishing would cause. The rows are stored for one hour. ' +
      'A new preview of the dataset replaces the former one.',
  })
  async previewRefresh(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Args(() => RefreshArgs) { wait, progress, ...options }: RefreshArgs,
  ) {
    return toPayload(await previews.preview(ctx, id, { ...options, progress }, wait));
  }

  @Can('dataset:refresh')
  @Mutation(() => DatasetRefreshPayload, {
    description:
      'Publishes the rows of a preview without loading them again. ' +
      'Fails with `CONFLICT` when the rows or the definition of the dataset have changed since the preview.',
  })
  async promoteRefresh(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Arg('previewId', () => ID, { description: 'The `previewId` that `previewRefresh` returned.' }) previewId: string,
    @Args(() => OperationArgs) { wait, progress }: OperationArgs,
  ) {
    return toPayload(await previews.promote(ctx, id, previewId, progress, wait));
  }
}
