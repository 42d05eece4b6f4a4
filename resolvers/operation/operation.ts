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
import type { Context } from '../../src/core/context.ts';
import type { OperationStatus } from '../../src/core/operations.ts';
import { Requires } from '../../src/core/read/model.ts';
import { events } from '../../src/services/operation/operation-events.ts';
import type { OperationRecord } from '../../src/services/operation/operation-record.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { Can } from '../support/guard.ts';
import { PageArgs, pageOf } from '../support/page.ts';

const OperationPage = pageOf(Operation, 'Operation');

/** What an operation works on. */
@ObjectType({ description: 'What an operation works on.' })
export class OperationResource {
  @Field(() => String, { description: 'Its kind, e.g. `dataset`.' }) kind!: string;
  @Field(() => ID, { description: 'Its id.' }) id!: string;
}

/** Why an operation failed. */
@ObjectType({ description: 'Why an operation failed, as the waiting caller was told.' })
export class OperationError {
  @Field(() => Int, { description: 'HTTP status.' }) statusCode!: number;
  @Field(() => String, { description: 'Code, e.g. `UPSTREAM_FAILED` or `CANCELLED`.' }) code!: string;
  @Field(() => String, { description: 'The sentence for people.' }) message!: string;
}

/** The argument that names an operation. */
const Key = () =>
  Arg('id', () => ID, { description: 'Id of the operation, or the caller’s own name for it (`progress`).' });

@Resolver(() => Operation)
export class OperationResolver {
  @Can('authenticated')
  @Query(() => Operation, { description: 'One of the caller’s long operations.' })
  operation(@Ctx() ctx: Context, @Key() id: string): Promise<OperationRecord> {
    return operations.get(ctx, id);
  }

  @Can('authenticated')
  @Query(() => OperationPage, { description: 'The caller’s long operations of the last seven days, the latest first.' })
  operations(
    @Ctx() ctx: Context,
    @Args(() => PageArgs) page: PageArgs,
    @Info() info: GraphQLResolveInfo,
    @Arg('resource', () => ID, { nullable: true, description: 'Only those that work on the resource of this id.' })
    resource?: string,
    @Arg('status', () => OperationStatusEnum, { nullable: true, description: 'Only those in this state.' })
    status?: OperationStatus,
  ) {
    const where = { userId: ctx.viewer.userId, ...(resource && { resourceId: resource }), ...(status && { status }) };
    return ctx.read.page(Operation, { ...page, sort: page.sort ?? '-createdAt' }, info, where);
  }

  @Can('authenticated')
  @Mutation(() => Operation, {
    description:
      'Ends one of the caller’s operations: one that waits at once, one that runs as soon as it stopped. What others wait for too goes on for them.',
  })
  cancelOperation(@Ctx() ctx: Context, @Key() id: string): Promise<OperationRecord> {
    return operations.cancel(ctx, id);
  }

  @Can('authenticated')
  @Subscription(() => Operation, {
    description: 'The current state of one of the caller’s operations, then every change, the final state last.',
    subscribe: ({ args, context }) => follow(context as Context, String(args.id)),
  })
  progress(@Root() record: OperationRecord, @Key() _id: string): OperationRecord {
    return record;
  }

  @Requires('resourceKind', 'resourceId')
  @FieldResolver(() => OperationResource, { description: 'What it works on.' })
  resource(@Root() { resourceKind, resourceId }: OperationRecord): OperationResource {
    return { kind: resourceKind, id: resourceId };
  }

  @Requires('error')
  @FieldResolver(() => OperationError, { nullable: true, description: 'Why it failed.' })
  error(@Root() { error }: OperationRecord): OperationError | null {
    return error ?? null;
  }

  @Requires('sequence')
  @FieldResolver(() => Int, { description: 'Counts the changes of the record.' })
  sequence(@Root() { sequence }: OperationRecord): number {
    return sequence;
  }
}

/** Looks first, so that an operation that does not exist is an error of the subscription and not of its first event. */
async function follow(ctx: Context, idOrAlias: string): Promise<AsyncIterable<OperationRecord>> {
  const { id } = await operations.get(ctx, idOrAlias);
  return events(ctx.platform, ctx.viewer, id, ctx.request.signal);
}
