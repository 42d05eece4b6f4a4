import { Arg, Args, ArgsType, Ctx, Field, Float, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import { Operation } from '../../entities/operation.ts';
import type { Context } from '../../src/core/context.ts';
import { invalid } from '../../src/core/input-checks.ts';
import { DateTime, Json, JsonObject } from '../../src/core/scalars.ts';
import type { DatasetRefreshResult } from '../../src/operations/operation-results.ts';
import * as refreshes from '../../src/services/dataset/dataset-refresh.ts';
import * as runs from '../../src/services/dataset/dataset-run.ts';
import type { OperationRecord } from '../../src/services/operation/operation-record.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { DatasetField } from './dataset-field.ts';

/** Answer of a run. */
@ObjectType({ description: 'Answer of a run: nothing is stored.' })
export class DatasetRun implements runs.RunResult {
  @Field(() => Float, { description: 'Rows that the query answered with.' }) records!: number;
  @Field(() => Int, { description: 'Milliseconds.' }) duration!: number;
  @Field(() => Boolean, { description: 'Always true: a failure is an error.' }) success!: true;
  @Field(() => JsonObject, { description: 'The effective values of the parameters.' })
  params!: runs.RunResult['params'];
}

/** Answer of a refresh. */
@ObjectType({ description: 'What a refresh came to.' })
export class DatasetRefresh implements DatasetRefreshResult {
  @Field(() => String, { description: 'The dataset.' }) id!: string;
  @Field(() => Float, { description: 'Rows now.' }) records!: number;
  @Field(() => Float, { description: 'Rows before.' }) previousRecordCount!: number;
  @Field(() => Float, { description: 'Milliseconds.' }) duration!: number;
  @Field(() => Int, { description: 'Fields that are new.' }) fieldsAdded!: number;
  @Field(() => Int, { description: 'Fields whose type changed.' }) fieldsUpdated!: number;
  @Field(() => Int, { description: 'Fields that are gone.' }) fieldsRemoved!: number;
  @Field(() => DateTime, { description: 'When the rows were replaced.' }) dataUpdatedAt!: string;
  @Field(() => Boolean, { description: 'Always true: a failure is an error.' }) success!: true;
}

/** A refresh that was started. */
@ObjectType({ description: 'A refresh: its operation, and its result when it was waited for.' })
export class DatasetRefreshPayload {
  @Field(() => Operation, { description: 'How far it is.' }) operation!: Operation;
  @Field(() => DatasetRefresh, { nullable: true, description: 'What it came to; null when it was not waited for.' })
  result!: DatasetRefresh | null;
}

/** Answer of a synchronisation of fields. */
@ObjectType({ description: 'What became of a dataset’s fields.' })
export class FieldSync {
  @Field(() => Int, { description: 'Fields that are new.' }) fieldsAdded!: number;
  @Field(() => Int, { description: 'Fields whose type changed.' }) fieldsUpdated!: number;
  @Field(() => Int, { description: 'Fields that are gone.' }) fieldsRemoved!: number;
  @Field(() => [DatasetField], { description: 'The fields now.' }) fields!: DatasetField[];
}

/** How a refresh is done. */
@ArgsType()
export class RefreshArgs {
  @Field(() => Json, { nullable: true, description: 'The caller’s own name for the operation, a text or number.' })
  progress?: unknown;

  @Field(() => JsonObject, { nullable: true, description: 'Values of parameters by name, instead of the defaults.' })
  params?: Record<string, unknown>;

  @Field(() => Boolean, {
    defaultValue: true,
    description:
      'Whether the fields follow the query; otherwise new columns are left out and vanished ones are missing.',
  })
  syncFields!: boolean;

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Whether types follow the query; otherwise a value that does not fit fails the refresh.',
  })
  updateTypeMapping!: boolean;

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Whether a search engine stops its own refreshing during the load.',
  })
  disableRefreshInterval!: boolean;

  @Field(() => Boolean, { defaultValue: true, description: 'Whether to answer when it is done.' })
  wait!: boolean;
}

@Resolver()
export class DatasetRunResolver {
  @Can('dataset:write')
  @Mutation(() => DatasetRun, {
    description: 'Runs a dataset’s query at its source and counts the rows. Stored rows are not changed.',
  })
  runDataset(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Arg('params', () => JsonObject, {
      nullable: true,
      description: 'Values of parameters by name, instead of the defaults.',
    })
    params?: Record<string, unknown> | null,
    @Arg('progress', () => Json, {
      nullable: true,
      description: 'The caller’s own name for the run, a text or number, to follow and cancel it by.',
    })
    progress?: unknown,
  ) {
    return runs.run(ctx, id, params, progressName(progress));
  }

  @Can('dataset:refresh')
  @Mutation(() => DatasetRefreshPayload, {
    description:
      'Replaces a dataset’s rows by those of its query. Readers see the old rows until the new are complete.',
  })
  async refreshDataset(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Args(() => RefreshArgs) { wait, progress, ...options }: RefreshArgs,
  ) {
    return answered(await refreshes.refresh(ctx, id, { ...options, progress: progressName(progress) }, wait));
  }

  @Can('dataset:refresh')
  @Mutation(() => DatasetRefreshPayload, {
    description:
      'The same for the service itself, without the owner’s right to the datasource: superusers and workers only.',
  })
  async refreshDatasetInternal(
    @Ctx() ctx: Context,
    @Key('dataset') id: string,
    @Args(() => RefreshArgs) { wait, progress, ...options }: RefreshArgs,
  ) {
    return answered(await refreshes.refreshInternal(ctx, id, { ...options, progress: progressName(progress) }, wait));
  }

  @Can('dataset:write')
  @Mutation(() => FieldSync, {
    description:
      'Asks the source what the query answers with now and brings the dataset’s fields up to date. Rows follow with the next refresh.',
  })
  syncDatasetFields(@Ctx() ctx: Context, @Key('dataset') id: string) {
    return runs.syncFields(ctx, id);
  }
}

/** The caller's own name for an operation, as services take it. */
export function progressName(progress: unknown): string | number | null {
  if (progress === undefined || progress === null) return null;
  if (typeof progress !== 'string' && typeof progress !== 'number')
    throw invalid('progress', 'must be a text or a number');
  return progress;
}

/** An operation with its result, which is null when it was not waited for. */
export const answered = (operation: OperationRecord) => ({ operation, result: operation.result ?? null });
