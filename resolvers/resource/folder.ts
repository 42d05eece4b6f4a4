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
  InputType,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { Folder } from '../../entities/folder.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as bulk from '../../src/services/resource/folder-bulk.ts';
import * as folders from '../../src/services/resource/folder.ts';
import { canChange } from '../../src/services/resource/unowned-kind.ts';
import { Id } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { PageArgs, pageOf } from '../support/page.ts';

const FolderPage = pageOf(Folder, 'Folder');

/** Which folders are wanted. */
@ArgsType()
export class FolderPageArgs extends PageArgs {
  @Field(() => String, { nullable: true, description: 'Only those whose name holds this, ignoring case.' })
  name?: string;
}

/** Changes of a folder. */
@InputType({ description: 'Changes of a folder. Absent keys stay as they are.' })
export class UpdateFolderInput {
  @Field(() => String, { nullable: true, description: 'Display name, 1 to 255 characters; siblings may share one.' })
  name?: string;

  @Field(() => ID, { nullable: true, description: 'The folder it lies in; null for the top.' })
  parentId?: string | null;
}

/** A new folder. */
@InputType({ description: 'A new folder.' })
export class CreateFolderInput extends UpdateFolderInput {
  @Field(() => String, { description: 'Display name, 1 to 255 characters; siblings may share one.' })
  override name!: string;
}

/** A folder among many that are made at once. */
@InputType({ description: 'A folder among many that are made at once.' })
export class AddFolderInput extends CreateFolderInput {
  @Field(() => ID, { description: 'A UUID that the client made, so that other additions can lie in the folder.' })
  id!: string;
}

/** A folder among many that change at once. */
@InputType({ description: 'A folder among many that change at once. Absent keys stay as they are.' })
export class ChangeFolderInput extends UpdateFolderInput {
  @Field(() => ID, { description: 'The folder.' })
  id!: string;
}

/** Many changes of folders. */
@InputType({ description: 'Changes of many folders, at most 1000: all of them happen, or none.' })
export class BulkUpdateFoldersInput {
  @Field(() => [ID], { nullable: true, description: 'First these are deleted, with the folders in them.' })
  remove?: string[];

  @Field(() => [AddFolderInput], {
    nullable: true,
    description: 'Then these are made; parents may be among them, in any order.',
  })
  add?: AddFolderInput[];

  @Field(() => [ChangeFolderInput], { nullable: true, description: 'Then these change.' })
  update?: ChangeFolderInput[];
}

/** What the caller may do to a folder. */
@ObjectType({ description: 'What the caller may do to a folder.' })
export class FolderPermissions {
  @Field(() => Boolean, { description: 'See it.' }) read!: boolean;
  @Field(() => Boolean, { description: 'Rename and move it.' }) write!: boolean;
  @Field(() => Boolean, { description: 'Delete it.' }) delete!: boolean;
  @Field(() => Boolean, { description: 'Make folders in it.' }) create!: boolean;
}

@Resolver(() => Folder)
export class FolderResolver {
  @Can('authenticated')
  @Query(() => Folder, { description: 'One folder.' })
  folder(@Ctx() ctx: Context, @Id('folder') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(Folder, id, info);
  }

  @Can('authenticated')
  @Query(() => FolderPage, { description: 'The folders of the tenant, at whatever depth.' })
  folders(@Ctx() ctx: Context, @Args(() => FolderPageArgs) page: FolderPageArgs, @Info() info: GraphQLResolveInfo) {
    return ctx.read.page(Folder, page, info);
  }

  @Can('folders:create')
  @Mutation(() => Folder, { description: 'Makes a folder.' })
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
      'Renames or moves a folder, which its creator and who may create folders do. It cannot lie within itself.',
  })
  async updateFolder(
    @Ctx() ctx: Context,
    @Id('folder') id: string,
    @Arg('input', { description: 'What changes.' }) input: UpdateFolderInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(Folder, await folders.update(ctx, id, input), info);
  }

  @Can('folder:delete')
  @Mutation(() => ID, {
    description:
      'Deletes a folder with the folders in it, which its creator and who may create folders do; answers its id as given. What else lies there is in no folder afterwards.',
  })
  async deleteFolder(@Ctx() ctx: Context, @Id('folder') id: string) {
    await folders.remove(ctx, id);
    return id;
  }

  @Can('authenticated')
  @Mutation(() => Boolean, {
    description:
      'Puts resources of any kind into a folder. What there is not, or the caller may not write, is passed over in silence.',
  })
  async bulkAssignFolder(
    @Ctx() ctx: Context,
    @Arg('entities', () => [ID], { description: 'UUIDs of the resources, at most 1000.' }) entities: string[],
    @Arg('folderId', () => ID, {
      nullable: true,
      description: 'The folder; null takes them out of theirs. It must be given.',
    })
    folderId?: string | null,
  ) {
    await bulk.assign(ctx, entities, folderId);
    return true;
  }

  @Can('folders:create')
  @Mutation(() => Boolean, {
    description: 'Removes, makes and changes many folders in one transaction, in this order.',
  })
  async bulkUpdateFolders(
    @Ctx() ctx: Context,
    @Arg('input', { description: 'What changes.' }) input: BulkUpdateFoldersInput,
  ) {
    await bulk.bulkUpdate(ctx, input);
    return true;
  }

  @FieldResolver(() => Folder, { nullable: true, description: 'The folder it lies in; null at the top.' })
  parent(@Root() { parent }: { parent: Folder | null }) {
    return parent;
  }

  @FieldResolver(() => [Folder], { description: 'The folders that lie directly in it, by name.' })
  subfolders(@Ctx() ctx: Context, @Root() folder: { id: string }, @Info() info: GraphQLResolveInfo) {
    return ctx.read.children(Folder, 'subfolders', folder, info);
  }

  @Requires('creatorId')
  @FieldResolver(() => FolderPermissions, { description: 'What the caller may do to it.' })
  permissions(@Ctx() { viewer }: Context, @Root() { creatorId }: { creatorId: string | null }): FolderPermissions {
    const changes = canChange(folders.FOLDER, viewer, creatorId);
    return {
      read: true,
      write: changes,
      delete: changes,
      create: viewer.superuser || viewer.permissions.has('folders:create'),
    };
  }
}
