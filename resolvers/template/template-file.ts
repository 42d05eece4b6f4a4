import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, ID, Info, Mutation, Resolver, Root } from 'type-graphql';
import {
  CreateTemplateFileInput,
  SetTemplateFileContentsInput,
  UpdateTemplateFileInput,
  UploadTemplateFileInput,
} from '../../entities/template-file-input.ts';
import { TemplateFile } from '../../entities/template-file.ts';
import { Template } from '../../entities/template.ts';
import type { Context } from '../../src/core/context.ts';
import { Rule } from '../../src/core/input-rules.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as contents from '../../src/services/template/template-file-contents.ts';
import * as files from '../../src/services/template/template-file.ts';
import { findFile } from '../../src/services/template/template-part.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ChildPageArgs } from '../support/page.ts';

/** Declares the argument that identifies a file of a template. */
const FileKey = () => Arg('id', () => ID, { description: 'Id or name of the file.' });

@Resolver(() => Template)
export class TemplateFilesResolver {
  @FieldResolver(() => [TemplateFile], { description: 'Files, by name. At most 200.' })
  files(
    @Ctx() ctx: Context,
    @Root() template: { id: string },
    @Args(() => ChildPageArgs) page: ChildPageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.children(Template, 'files', template, info, page);
  }

  @FieldResolver(() => TemplateFile, { nullable: true, description: 'A file, by its id or name.' })
  async file(
    @Ctx() ctx: Context,
    @Root() { id: templateId }: { id: string },
    @FileKey() key: string,
    @Info() info: GraphQLResolveInfo,
  ) {
    const file = await findFile(ctx, templateId, key, info);
    return { ...file, ...(await contents.sendContents(ctx, templateId, file.id)) };
  }
}

@Resolver(() => TemplateFile)
export class TemplateFileResolver {
  @Requires('templateId')
  @FieldResolver(() => String, { description: 'Path of the contents.' })
  contentsUrl(@Root() { id, templateId }: Pick<TemplateFile, 'id' | 'templateId'>): string {
    return `/api/templates/${templateId}/files/${id}/contents`;
  }

  @Can('template:write')
  @Mutation(() => TemplateFile, {
    description:
      'Creates an empty file in a template. A template has at most 200 files. The first one with the role TEMPLATE becomes the file ' +
      'that is rendered by default.',
  })
  async createTemplateFile(
    @Ctx() ctx: Context,
    @Key('template', 'templateId') templateId: string,
    @Arg('input', { description: 'The new file.' }) input: CreateTemplateFileInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(TemplateFile, await files.create(ctx, templateId, input), info);
  }

  @Can('template:write')
  @Mutation(() => TemplateFile, {
    description:
      'Creates a file in a template with its contents: at most 25 MB, and 100 MB in all files of the template. The ' +
      'extension determines the media type, if it is known.',
  })
  async uploadTemplateFile(
    @Ctx() ctx: Context,
    @Key('template', 'templateId') templateId: string,
    @Arg('input', { description: 'The file.' }) input: UploadTemplateFileInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(TemplateFile, await contents.upload(ctx, templateId, input), info);
  }

  @Can('template:write')
  @Mutation(() => TemplateFile, { description: 'Updates a file of a template.' })
  async updateTemplateFile(
    @Ctx() ctx: Context,
    @Key('template', 'templateId') templateId: string,
    @FileKey() id: string,
    @Arg('input', { description: 'The changes.' }) input: UpdateTemplateFileInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(TemplateFile, await files.update(ctx, templateId, id, input), info);
  }

  @Can('template:write')
  @Mutation(() => TemplateFile, {
    description: 'Replaces the contents of a file of a template: at most 25 MB. Its media type stays.',
  })
  async setTemplateFileContents(
    @Ctx() ctx: Context,
    @Key('template', 'templateId') templateId: string,
    @FileKey() id: string,
    @Arg('input', { description: 'The contents.' }) input: SetTemplateFileContentsInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(TemplateFile, await contents.setContents(ctx, templateId, id, input), info);
  }

  @Can('template:write')
  @Mutation(() => ID, {
    description:
      'Deletes a file of a template. `templateFileId`, `letterheadId` and values in `settings` equal to its id become null. ' +
      'Returns the `id` argument.',
  })
  async deleteTemplateFile(
    @Ctx() ctx: Context,
    @Key('template', 'templateId') templateId: string,
    @FileKey() id: string,
  ) {
    await files.remove(ctx, templateId, id);
    return id;
  }

  @Can('template:write')
  @Mutation(() => Template, { description: 'Sets the file of a template that is rendered by default.' })
  async setTemplateFile(
    @Ctx() ctx: Context,
    @Key('template', 'templateId') templateId: string,
    @Info() info: GraphQLResolveInfo,
    @Arg('templateFileId', () => ID, {
      nullable: true,
      description: 'Id of a file with the role TEMPLATE; null for none.',
    })
    @Rule({ required: true })
    templateFileId?: string | null,
  ) {
    return ctx.read.readAfterWrite(
      Template,
      await files.setTemplateFile(ctx, templateId, templateFileId ?? null),
      info,
    );
  }
}
