import type { GraphQLResolveInfo } from 'graphql';
import { Args, ArgsType, Ctx, Field, FieldResolver, Info, Resolver, Root } from 'type-graphql';
import { LibraryFile, LibraryFileStatusEnum, type LibraryFileStatus } from '../../entities/library-file.ts';
import { Library } from '../../entities/library.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import { findFile } from '../../src/services/library/library-file.ts';
import { Id } from '../support/arguments.ts';
import { PageArgs, pageOf } from '../support/page.ts';

const LibraryFilePage = pageOf(LibraryFile, 'LibraryFile');

/** Filter and page of the files of a library. */
@ArgsType()
class LibraryFileArgs extends PageArgs {
  @Field(() => String, {
    nullable: true,
    description: 'Only the file with this path, or all files in the folder with this path and below it, e.g. `a`.',
  })
  path?: string;

  @Field(() => LibraryFileStatusEnum, { nullable: true, description: 'Only files with this status.' })
  status?: LibraryFileStatus;
}

@Resolver(() => Library)
export class LibraryFilesResolver {
  @FieldResolver(() => LibraryFilePage, { description: 'Files, by path. `q` searches their names and paths.' })
  files(
    @Ctx() ctx: Context,
    @Root() library: { id: string },
    @Args(() => LibraryFileArgs) page: LibraryFileArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.childPage(Library, 'files', library, info, page);
  }

  @FieldResolver(() => LibraryFile, {
    nullable: true,
    description: 'A file, by its id. Fails with `NOT_FOUND` if there is none.',
  })
  file(
    @Ctx() ctx: Context,
    @Root() { id: libraryId }: { id: string },
    @Id('file') id: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    return findFile(ctx, libraryId, id, info);
  }
}

@Resolver(() => LibraryFile)
export class LibraryFileResolver {
  @Requires('libraryId', 'storedFileId')
  @FieldResolver(() => String, { nullable: true, description: 'Path of the contents; null if they are not kept.' })
  contentsUrl(@Root() { id, libraryId, storedFileId }: Pick<LibraryFile, 'id' | 'libraryId' | 'storedFileId'>) {
    return storedFileId ? `/api/libraries/${libraryId}/files/${id}/contents` : null;
  }
}
