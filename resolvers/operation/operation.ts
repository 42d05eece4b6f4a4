import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Info,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import { Operation, OperationStatusEnum } from '../../entities/operation.ts';
import { ResourceKindEnum } from '../../entities/word-enum.ts';
import type { Context } from '../../src/core/context.ts';
import type { ValidationIssue } from '../../src/core/errors.ts';
import type { OperationFailure, OperationStatus } from '../../src/core/operations.ts';
import { Requires } from '../../src/core/read/model.ts';
import { Json } from '../../src/core/scalars.ts';
import { UuidField } from '../../src/core/uuid-field.ts';
import type { OperationRecord } from '../../src/services/operation/operation-record.ts';
import { followOperation } from '../../src/services/operation/operation-wait.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { Can } from '../support/guard.ts';
import { PageArgs, pageOf } from '../support/page.ts';

const OperationPage = pageOf(Operation, 'Operation');

@ObjectType({ description: 'The resource that an operation reads or changes.' })
export class OperationResource {
  @Field(() => ResourceKindEnum, { description: 'Kind, e.g. `dataset`.' }) kind!: string;
  @UuidField()
  @Field(() => ID, { description: 'Identifier.' })
  id!: string;
}

@ObjectType({ description: 'An invalid value of a request, or a mistake in a file.' })
export class OperationIssue implements ValidationIssue {
  @Field(() => [Json], { description: 'Path of the value, e.g. `["params", "country"]`, or the name of the file.' })
  path!: (string | number)[];

  @Field(() => String, { description: 'Description of the issue in English.' }) message!: string;
  @Field(() => String, { description: 'Machine-readable code, e.g. `required`.' }) code!: string;
  @Field(() => Int, { nullable: true, description: 'Line in the file, from 1; null if it is unknown.' })
  line?: number | null;

  @Field(() => Int, { nullable: true, description: 'Column in that line, from 1; null if it is unknown.' })
  column?: number | null;
}

@ObjectType({ description: 'Failure of an operation. A caller who waits for the operation gets the same error.' })
export class OperationError implements OperationFailure {
  @Field(() => Int, { description: 'HTTP status code.' }) statusCode!: number;
  @Field(() => String, { description: 'Error code, e.g. `UPSTREAM_FAILED` or `CANCELLED`.' }) code!: string;
  @Field(() => String, { description: 'Human-readable message.' }) message!: string;
  @Field(() => [OperationIssue], { nullable: true, description: 'The invalid values, or the mistakes in files.' })
  validation?: OperationIssue[];
}

const OperationKey = () =>
  Arg('id', () => ID, {
    description:
      'Id of the operation, or the caller’s own name for it (`progress`). ' +
      'A name selects the unfinished operation, else the latest.',
  });

@Resolver(() => Operation)
export class OperationResolver {
  @Can('authenticated')
  @Query(() => Operation, { nullable: true, description: 'Returns a long operation of the caller.' })
  operation(@Ctx() ctx: Context, @OperationKey() id: string): Promise<OperationRecord> {
    return operations.get(ctx, id);
  }

  @Can('authenticated')
  @Query(() => OperationPage, {
    description: 'Lists the long operations of the caller from the last seven days, latest first.',
  })
  operations(
    @Ctx() ctx: Context,
    @Args(() => PageArgs) page: PageArgs,
    @Info() info: GraphQLResolveInfo,
    @Arg('resource', () => ID, {
      nullable: true,
      description: 'Id of a resource. Returns only operations on this resource.',
    })
    resource?: string,
    @Arg('status', () => OperationStatusEnum, { nullable: true, description: 'Returns only operations in this state.' })
    status?: OperationStatus,
  ) {
    const where = { userId: ctx.viewer.userId, ...(resource && { resourceId: resource }), ...(status && { status }) };
    return ctx.read.page(Operation, { ...page, sort: page.sort ?? '-createdAt' }, info, where);
  }

  @Can('authenticated')
  @Mutation(() => Operation, {
    description:
      'Cancels an operation of the caller. A queued operation ends immediately, a running one as soon as its worker has ' +
      'stopped. If other users wait for the same work, it continues for them. ' +
      'Fails with `CONFLICT` if the operation has ended.',
  })
  cancelOperation(@Ctx() ctx: Context, @OperationKey() id: string): Promise<OperationRecord> {
    return operations.cancel(ctx, id);
  }

  @Can('authenticated')
  @Subscription(() => Operation, {
    description:
      'Sends the current state of an operation of the caller, then every change, at most ten a second. ' +
      'Completes after the final state.',
    subscribe: ({ args, context }) => followVisible(context as Context, String(args.id)),
  })
  progress(@Root() record: OperationRecord, @OperationKey() _id: string): OperationRecord {
    return record;
  }

  @Requires('resourceKind', 'resourceId')
  @FieldResolver(() => OperationResource, { description: 'Resource that the operation reads or changes.' })
  resource(@Root() { resourceKind, resourceId }: OperationRecord): OperationResource {
    return { kind: resourceKind, id: resourceId };
  }

  @Requires('error')
  @FieldResolver(() => OperationError, { nullable: true, description: 'Failure of a failed or cancelled operation.' })
  error(@Root() { error }: OperationRecord): OperationError | null {
    return error ?? null;
  }

  @Requires('sequence')
  @FieldResolver(() => Int, { description: 'Number of changes of the record. It only increases.' })
  sequence(@Root() { sequence }: OperationRecord): number {
    return sequence;
  }
}

/** Checks the operation first, so that NOT_FOUND is an error of the subscription and not of its first event. */
async function followVisible(ctx: Context, idOrAlias: string): Promise<AsyncIterable<OperationRecord>> {
  const { id } = await operations.get(ctx, idOrAlias);
  return followOperation(ctx.platform, ctx.viewer, id, ctx.request.signal);
}
