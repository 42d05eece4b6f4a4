import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Info,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { BulkUpdateFoldersInput, CreateFolderInput, UpdateFolderInput } from '../../entities/folder-input.ts';
import { Folder } from '../../entities/folder.ts';
import type { Context } from '../../src/core/context.ts';
import { Rule } from '../../src/core/input-rules.ts';
import { Requires } from '../../src/core/read/model.ts';
import { assign } from '../../src/services/resource/folder-assign.ts';
import { bulkUpdate } from '../../src/services/resource/folder-bulk.ts';
import * as folders from '../../src/services/resource/folder.ts';
import { canChange } from '../../src/services/resource/unowned-kind.ts';
import { Id } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs, PageArgs, pageOf } from '../support/page.ts';

const FolderPage = pageOf(Folder, 'Folder');

/** Arguments of the list of folders. */
@ArgsType()
class FolderPageArgs extends PageArgs {
  @Field(() => String, {
    nullable: true,
    description: 'Returns only folders whose name contains this text, ignoring case.',
  })
  name?: string;
}

@ObjectType({ description: 'The permissions of the caller on a folder.' })
class FolderPermissions {
  @Field(() => Boolean, { description: 'Read the folder.' }) read!: boolean;
  @Field(() => Boolean, { description: 'Rename and move the folder.' }) write!: boolean;
  @Field(() => Boolean, { description: 'Delete the folder.' }) delete!: boolean;
  @Field(() => Boolean, { description: 'Create folders inside the folder.' }) create!: boolean;
}

@Resolver(() => Folder)
export class FolderResolver {
  @Can('authenticated')
  @Query(() => Folder, { nullable: true, description: 'Returns a folder.' })
  folder(@Ctx() ctx: Context, @Id('folder') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Folder, id, info);
  }

  @Can('authenticated')
  @Query(() => FolderPage, { description: 'Lists the folders of the tenant, at any depth.' })
  folders(@Ctx() ctx: Context, @Args(() => FolderPageArgs) page: FolderPageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(Folder, page, info);
  }

  @Can('folders:create')
  @Mutation(() => Folder, { description: 'Creates a folder.' })
  async createFolder(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The new folder.' }) input: CreateFolderInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(Folder, await folders.create(ctx, input), info);
  }

  @Can('folder:write')
  @Mutation(() => Folder, {
    description:
      'Renames or moves a folder. Requires its creator or the permission `folders:create`. ' +
      'A folder cannot be inside itself.',
  })
  async updateFolder(
    @Ctx() ctx: Context,
    @Id('folder') id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateFolderInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(Folder, await folders.update(ctx, id, input), info);
  }

  @Can('folder:delete')
  @Mutation(() => ID, {
    description:
      'Deletes a folder with all folders inside it. Requires its creator or the permission `folders:create`. ' +
      'Resources in the folders are in no folder afterwards. Returns the `id` argument.',
  })
  async deleteFolder(@Ctx() ctx: Context, @Id('folder') id: string) {
    await folders.remove(ctx, id);
    return id;
  }

  @Can('authenticated')
  @Mutation(() => Boolean, {
    description:
      'Moves resources of any kind into a folder. Ignores ids that do not exist or that the caller may not write.',
  })
  async bulkAssignFolder(
    @Ctx() ctx: Context,
    @Arg('entities', () => [ID], { description: 'Ids of the resources, at most 1000.' })
    @Rule({ maxItems: 1000 })
    entities: string[],
    @Arg('folderId', () => ID, {
      nullable: true,
      description: 'Id of the folder; null removes the resources from their folders. Required.',
    })
    @Rule({ required: true })
    folderId: string | null,
  ) {
    await assign(ctx, entities, folderId);
    return true;
  }

  @Can('folders:create')
  @Mutation(() => Boolean, {
    description: 'Deletes, creates and updates many folders in one transaction, in this order.',
  })
  async bulkUpdateFolders(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'The changes.' }) input: BulkUpdateFoldersInput,
  ) {
    await bulkUpdate(ctx, input);
    return true;
  }

  @FieldResolver(() => Folder, { nullable: true, description: 'Parent folder; null at the top level.' })
  parent(@Root() { parent }: { parent: Folder | null }) {
    return parent;
  }

  @FieldResolver(() => [Folder], { description: 'The folders directly inside it, by name.' })
  subfolders(
    @Ctx() ctx: Context,
    @Root() folder: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(Folder, 'subfolders', folder, info, page);
  }

  @Requires('creatorId')
  @FieldResolver(() => FolderPermissions, { description: 'The permissions of the caller.' })
  permissions(@Ctx() { viewer }: Context, @Root() { creatorId }: { creatorId: string | null }): FolderPermissions {
    const mayChange = canChange(folders.FOLDER, viewer, creatorId);
    return {
      read: true,
      write: mayChange,
      delete: mayChange,
      create: viewer.superuser || viewer.permissions.has('folders:create'),
    };
  }
}
