import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Args,
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
import { Assistant } from '../../entities/assistant.ts';
import { CreateImageInput } from '../../entities/image-input.ts';
import { Image } from '../../entities/image.ts';
import { Operation } from '../../entities/operation.ts';
import type { Context } from '../../src/core/context.ts';
import { Requires } from '../../src/core/read/model.ts';
import { requestImage, type ImageResult } from '../../src/services/image/image-request.ts';
import * as images from '../../src/services/image/image.ts';
import type { OperationRecord } from '../../src/services/operation/operation-record.ts';
import { OperationArgs } from '../operation/operation-arguments.ts';
import { Id, Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';
import { ImagePage, ImagePageArgs } from './image-types.ts';

@ObjectType({ description: 'An image that was requested: its operation and, if the call waited, the image.' })
class CreateImagePayload {
  @Field(() => Operation, { description: 'Status and progress.' })
  operation!: OperationRecord;
}

@ObjectType({ description: 'Permissions of the caller on an image.' })
class ImagePermissions {
  @Field(() => Boolean, { description: 'Read the image.' })
  read!: boolean;

  @Field(() => Boolean, { description: 'Delete the image.' })
  delete!: boolean;
}

const CREATES =
  'The credits of the image are reserved before the provider is called, and charged when it is stored. Images that fail or are ' +
  'cancelled cost nothing.';

@Resolver(() => Image)
export class ImageResolver {
  @Can('authenticated')
  @Query(() => Image, { nullable: true, description: 'Returns an image.' })
  async image(@Ctx() ctx: Context, @Id('image') id: string, @Info() info: GraphQLResolveInfo) {
    if (ctx.sendFile) await images.sendImage(ctx, await ctx.read.one(Image, id, images.CONTENT_COLUMNS));
    return ctx.read.one(Image, id, info);
  }

  @Can('authenticated')
  @Query(() => ImagePage, {
    description: 'Lists the images of the caller and of assistants that the caller can read, latest first.',
  })
  async images(
    @Ctx() ctx: Context,
    @Args(() => ImagePageArgs) { assistantId: key, ...page }: ImagePageArgs,
    @Info() info: GraphQLResolveInfo,
  ) {
    if (key == null) return ctx.read.page(Image, page, info);
    const { id: assistantId } = await ctx.read.one(Assistant, key, ['id']);
    const filtered = { ...page, assistantId };
    return ctx.read.page(Image, filtered, info);
  }

  @Can('image:delete')
  @Mutation(() => ID, {
    description:
      'Deletes an image. Permitted to the user who requested it and to users who may write its assistant. Returns the `id` argument.',
  })
  async deleteImage(@Ctx() ctx: Context, @Id('image') id: string) {
    await images.remove(ctx, id);
    return id;
  }

  @FieldResolver(() => String, { description: 'Path of the contents.' })
  url(@Root() { id }: { id: string }): string {
    return images.imageUrl(id);
  }

  @Requires('sealedPrompt')
  @FieldResolver(() => String, { description: 'Prompt from which it was created.' })
  prompt(@Ctx() { platform }: Context, @Root() { id, sealedPrompt }: Pick<Image, 'id' | 'sealedPrompt'>): string {
    return platform.secrets.open(sealedPrompt, `the prompt of image ${id}`);
  }

  @Requires('userId', 'assistant.ownerId')
  @FieldResolver(() => ImagePermissions, { description: 'Permissions of the caller on the image.' })
  async permissions(@Ctx() ctx: Context, @Root() image: Parameters<typeof images.isDeletable>[1]) {
    return { read: true, delete: await images.isDeletable(ctx, image) } satisfies ImagePermissions;
  }
}

@Resolver(() => CreateImagePayload)
export class CreateImageResolver {
  @Can('ai:access')
  @Mutation(() => CreateImagePayload, { description: `Creates an image with a model of an AI provider. ${CREATES}` })
  async createImage(
    @Ctx() ctx: Context,
    @Args(() => OperationArgs) { wait, progress }: OperationArgs,
    @Arg('input', { description: 'Content of the image.' }) input: CreateImageInput,
  ) {
    return { operation: await requestImage(ctx, input, { assistant: null, progress, wait }) };
  }

  @Can('assistant:write')
  @Mutation(() => CreateImagePayload, {
    description: `Creates an image that belongs to an assistant: all who may read the assistant see it. Requires \`ai:access\`. ${CREATES}`,
  })
  async createAssistantImage(
    @Ctx() ctx: Context,
    @Key('assistant', 'assistantId') assistant: string,
    @Args(() => OperationArgs) { wait, progress }: OperationArgs,
    @Arg('input', { description: 'Content of the image.' }) input: CreateImageInput,
  ) {
    return { operation: await requestImage(ctx, input, { assistant, progress, wait }) };
  }

  @FieldResolver(() => Image, {
    nullable: true,
    description: 'The image; null if the call did not wait, and once it is deleted.',
  })
  result(@Ctx() ctx: Context, @Root() { operation }: CreateImagePayload, @Info() info: GraphQLResolveInfo) {
    const result = operation.result as ImageResult | null;
    return result ? ctx.read.find(Image, result.id, info) : null;
  }
}
