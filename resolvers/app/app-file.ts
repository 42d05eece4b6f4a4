import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Resolver, Root } from 'type-graphql';
import { SetAppFileInput } from '../../entities/app-file-input.ts';
import { AppFile } from '../../entities/app-file.ts';
import { App } from '../../entities/app.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as files from '../../src/services/app/app-file.ts';
import { checkMayWrite } from '../../src/services/app/app-part.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs } from '../support/page.ts';

/** Declares the argument that identifies a file of an app. */
const Path = (description = 'Path of the file.') => Arg('path', () => String, { description });

@Resolver(() => App)
export class AppFilesResolver {
  @Requires('id', 'ownerId')
  @FieldResolver(() => [AppFile], { description: 'Files, by path. At most 500. Requires `app:write`.' })
  async files(
    @Ctx() ctx: Context,
    @Root() app: Pick<App, 'id' | 'ownerId'>,
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    await checkMayWrite(ctx, app);
    return ctx.read.children(App, 'files', app, info, page);
  }

  @Requires('id', 'ownerId')
  @FieldResolver(() => AppFile, { nullable: true, description: 'A file, by its path. Requires `app:write`.' })
  async file(
    @Ctx() ctx: Context,
    @Root() app: Pick<App, 'id' | 'ownerId'>,
    @Path() path: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    await checkMayWrite(ctx, app);
    return files.findFile(ctx, app.id, path, info);
  }
}

@Resolver(() => AppFile)
export class AppFileResolver {
  @FieldResolver(() => Boolean, {
    nullable: true,
    description: 'Whether `setAppFile` created the file; null elsewhere.',
  })
  created(@Root() file: { created?: boolean }): boolean | null {
    return file.created ?? null;
  }

  @Can('app:write')
  @Mutation(() => AppFile, {
    description:
      'Creates or replaces a file of an app: at most 5 MB, code (`.js`, `.ts`) at most 1 MB, all files together ' +
      '50 MB. The extension determines the media type, if it is known. A migration that has run cannot be ' +
      'changed.',
  })
  async setAppFile(
    @Ctx() ctx: Context,
    @Key('app', 'appId') appId: string,
    @Path('Path: 1 to 255 characters, in which `/` separates at most 8 folders.') path: string,
    @Arg('input', { description: 'The contents.' }) input: SetAppFileInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    const { id, created } = await files.setFile(ctx, appId, path, input);
    return { ...(await ctx.read.readAfterWrite(AppFile, id, info)), created };
  }

  @Can('app:write')
  @Mutation(() => ID, {
    description:
      'Deletes a file of an app, or a folder with all files below. Returns the `path` argument. A migration that has run ' +
      'cannot be deleted.',
  })
  async deleteAppFile(
    @Ctx() ctx: Context,
    @Key('app', 'appId') appId: string,
    @Path('Path of the file or folder.') path: string,
  ) {
    await files.removeFile(ctx, appId, path);
    return path;
  }
}
