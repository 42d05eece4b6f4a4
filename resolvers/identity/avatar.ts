import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  Float,
  Info,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { AvatarPartInput, SetAvatarInput } from '../../entities/avatar-input.ts';
import { User } from '../../entities/user.ts';
import type { Context, PublicContext } from '../../src/core/context.ts';
import { intRule, Rule, textRule } from '../../src/core/input-rules.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as images from '../../src/services/identity/avatar-image.ts';
import * as uploads from '../../src/services/identity/avatar-upload.ts';
import * as avatars from '../../src/services/identity/avatar.ts';
import type { PictureContents } from '../../src/services/resource/picture-file.ts';
import { Username } from '../support/arguments.ts';
import { Can, Public } from '../support/guard.ts';

@ObjectType('AvatarImage', { description: 'A picture with its bytes.' })
class AvatarImageType {
  @Field(() => String, { description: 'Media type of the picture.' })
  contentType!: string;

  @Field(() => String, { description: 'SHA-256 of the bytes, in hexadecimal.' })
  sha256!: string;

  @Field(() => Boolean, {
    description: 'Whether `t` is the value in `avatarUrl`, so that this address never has another picture.',
  })
  immutable!: boolean;
}

@ObjectType({ description: 'State of an avatar that is uploaded in parts.' })
class AvatarUpload implements uploads.AvatarUploadState {
  @Field(() => String, { description: 'Name of the upload, chosen by the client.' })
  uploadId!: string;

  @Field(() => Int, { description: 'Number of different parts that were received.' })
  received!: number;

  @Field(() => Int, { description: 'Number of all parts.' })
  total!: number;

  @Field(() => Boolean, { description: 'Whether all parts were received, and the avatar is set.' })
  complete!: boolean;

  @Field(() => String, { nullable: true, description: 'Path of the new avatar. Null until the upload is complete.' })
  avatarUrl!: string | null;
}

@Resolver(() => AvatarImageType)
export class AvatarImageResolver {
  @FieldResolver(() => String, { description: 'Bytes of the picture as base64.' })
  content(@Root() { bytes }: PictureContents): string {
    return bytes!.toString('base64');
  }
}

@Resolver(() => User)
export class AvatarResolver {
  @Public()
  @Query(() => AvatarImageType, {
    description:
      'Returns the avatar of a user: WebP of 256 by 256 pixels. Users without an avatar and unknown ones have the same ' +
      'default image. A user is found by id in any tenant, otherwise by username in the tenant of the caller.',
  })
  async avatar(
    @Ctx() ctx: PublicContext,
    @Username() username: string,
    @Arg('tenant', () => String, {
      nullable: true,
      description: 'Slug of the tenant, for callers without credentials. Default: `default`.',
    })
    tenant?: string | null,
    @Arg('t', () => Float, {
      nullable: true,
      description: 'Any integer. In REST, caches keep the response for a year if it is the value in `avatarUrl`.',
    })
    @Rule(intRule(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER))
    t?: number | null,
  ) {
    return images.readAvatar(ctx, username, tenant, t);
  }

  @Can('authenticated')
  @Query(() => AvatarImageType, {
    nullable: true,
    description:
      'Returns the picture that the avatar of a user was drawn from, in its original size; of an SVG the allowed parts. Null ' +
      'for a user without an avatar. Can be requested once in a document.',
  })
  async originalAvatar(@Ctx() ctx: Context, @Username() username: string) {
    const image = await images.readOriginal(ctx, username);
    return image && { ...image, immutable: false };
  }

  @Can('user:edit')
  @Mutation(() => User, {
    description:
      'Sets the avatar of a user. Users can set their own avatar; other users require `users:edit`. Only superusers can set ' +
      'the avatar of a superuser.',
  })
  async setAvatar(
    @Ctx() ctx: Context,
    @Username() username: string,
    @Arg('input', { description: 'The picture.' }) input: SetAvatarInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.one(User, await avatars.set(ctx, username, input), info);
  }

  @Can('user:edit')
  @Mutation(() => AvatarUpload, {
    description:
      'Stores a part of an avatar, and sets the avatar when all parts are there. Parts may be sent in any order, and again. ' +
      'Permitted to the same callers as `setAvatar`. Unfinished uploads are deleted after 24 hours.',
  })
  uploadAvatarPart(
    @Ctx() ctx: Context,
    @Username() username: string,
    @Arg('uploadId', { description: 'Name of the upload, chosen by the client, the same for all its parts.' })
    @Rule(textRule(200))
    uploadId: string,
    @Arg('input', { description: 'The part.' }) input: AvatarPartInput,
  ): Promise<AvatarUpload> {
    return uploads.addPart(ctx, username, uploadId, input);
  }

  @Can('user:edit')
  @Mutation(() => User, {
    description:
      'Removes the avatar of a user, if there is one. Permitted to the same callers as `setAvatar`. Returns the user.',
  })
  async deleteAvatar(@Ctx() ctx: Context, @Username() username: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.one(User, await avatars.remove(ctx, username), info);
  }

  @Requires('avatarId')
  @FieldResolver(() => String, {
    description:
      'Path of the avatar, without credentials. It changes with the avatar, except for the default one, which has no `t`.',
  })
  avatarUrl(@Root() user: { id: string; avatarId: string | null }): string {
    return avatars.avatarUrlOf(user);
  }
}
