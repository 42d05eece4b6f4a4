import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, ID, Info, Mutation, Query, Resolver } from 'type-graphql';
import { CreateLibraryInput, UpdateLibraryInput } from '../../entities/library-input.ts';
import { LibraryShareInput } from '../../entities/library-share-input.ts';
import { Library } from '../../entities/library.ts';
import { LIBRARY } from '../../entities/owned-kinds.ts';
import type { Context } from '../../src/core/context.ts';
import { Rule, UUID_RULE } from '../../src/core/input-rules.ts';
import * as libraries from '../../src/services/library/library.ts';
import { resolveListArguments } from '../../src/services/resource/resolve-ids.ts';
import * as shares from '../../src/services/resource/share.ts';
import { ownedFields } from '../resource/owned.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { OwnedPageArgs, pageOf } from '../support/page.ts';

export const LibraryPage = pageOf(Library, 'Library');

export const LibraryOwnedFields = ownedFields(LIBRARY, {
  input: LibraryShareInput,
  set: (ctx, ...share) => shares.set(ctx, LIBRARY, ...share),
});

@Resolver(() => Library)
export class LibraryResolver {
  @Can('authenticated')
  @Query(() => Library, { nullable: true, description: 'Returns a library.' })
  library(@Ctx() ctx: Context, @Key('library') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Library, id, info);
  }

  @Can('authenticated')
  @Query(() => LibraryPage, { description: 'Lists the libraries that the caller may read.' })
  async libraries(
    @Ctx() ctx: Context,
    @Args(() => OwnedPageArgs) page: OwnedPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.page(Library, await resolveListArguments(ctx, page), info);
  }

  @Can('libraries:create')
  @Mutation(() => Library, { description: 'Creates a library. It has no files before its first sync.' })
  async createLibrary(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new library.' }) input: CreateLibraryInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Library, await libraries.create(ctx, input), info);
  }

  @Can('library:write')
  @Mutation(() => Library, { description: 'Updates a library. Another integration ends its connection.' })
  async updateLibrary(
    @Ctx() ctx: Context,
    @Key('library') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateLibraryInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Library, await libraries.update(ctx, id, input), info);
  }

  @Can('library:write')
  @Mutation(() => Library, {
    description: 'Sets the integration of a library. Another one than before ends its connection.',
  })
  async setLibraryIntegration(
    @Ctx() ctx: Context,
    @Key('library') id: string,
    @Arg('integrationId', () => ID, { description: 'Id of the integration.' }) @Rule(UUID_RULE) integrationId: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Library, await libraries.setIntegration(ctx, id, integrationId), info);
  }

  @Can('library:delete')
  @Mutation(() => ID, {
    description:
      'Deletes a library with its files, its connection and its embedded integration. The files of the ' +
      'drive stay. Returns the `id` argument.',
  })
  async deleteLibrary(@Ctx() ctx: Context, @Key('library') id: string) {
    await libraries.remove(ctx, id);
    return id;
  }
}
