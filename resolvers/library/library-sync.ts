import { Args, ArgsType, Ctx, Field, Mutation, ObjectType, Resolver } from 'type-graphql';
import { LibrarySync } from '../../entities/library-sync.ts';
import { Operation } from '../../entities/operation.ts';
import type { Context } from '../../src/core/context.ts';
import * as syncs from '../../src/services/library/start-sync.ts';
import { OperationArgs, toPayload } from '../operation/operation-arguments.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

@ObjectType({ description: 'A sync: its operation and, if the call waited, its result.' })
class LibrarySyncPayload {
  @Field(() => Operation, { description: 'Status and progress.' })
  operation!: Operation;

  @Field(() => LibrarySync, { nullable: true, description: 'Result; null if the call did not wait.' })
  result!: LibrarySync | null;
}

/** The options of a sync. */
@ArgsType()
class SyncArgs extends OperationArgs {
  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether all files are deleted once the drive lists its files, and read again. Default: false.',
  })
  purge?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether nothing is stored: the result states the changes of a sync. Default: false.',
  })
  dryRun?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether all files are listed, not only changes. Default: false.',
  })
  full?: boolean | null;
}

@Resolver()
export class LibrarySyncResolver {
  @Can('library:sync')
  @Mutation(() => LibrarySyncPayload, {
    description:
      'Brings the files of a library up to date with its drive. Syncs of a library run one at a time. Fails with ' +
      '`CONFLICT` without a connection.',
  })
  async syncLibrary(
    @Ctx() ctx: Context,
    @Key('library') id: string,
    @Args(() => SyncArgs) { wait, ...options }: SyncArgs,
  ) {
    return toPayload(await syncs.sync(ctx, id, options, wait));
  }
}
