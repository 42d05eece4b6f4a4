import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Field, FieldResolver, Float, Info, Mutation, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { SetAssistantIconInput } from '../../entities/assistant-icon-input.ts';
import { Assistant } from '../../entities/assistant.ts';
import type { Context } from '../../src/core/context.ts';
import { intRule, Rule } from '../../src/core/input-rules.ts';
import { Requires } from '../../src/core/read/model.ts';
import * as icons from '../../src/services/assistant/assistant-icon.ts';
import * as images from '../../src/services/assistant/icon-image.ts';
import type { PictureContents } from '../../src/services/resource/picture-file.ts';
import { Key } from '../support/arguments.ts';
import { Can } from '../support/guard.ts';

@ObjectType({ description: 'An icon with its bytes.' })
class AssistantIcon {
  @Field(() => String, { description: 'Media type of the icon.' })
  contentType!: string;

  @Field(() => String, { description: 'SHA-256 of the bytes, in hexadecimal.' })
  sha256!: string;
}

@Resolver(() => AssistantIcon)
export class AssistantIconImageResolver {
  @FieldResolver(() => String, { description: 'Bytes of the icon as base64.' })
  content(@Root() { bytes }: PictureContents): string {
    return bytes!.toString('base64');
  }
}

@Resolver(() => Assistant)
export class AssistantIconResolver {
  @Can('authenticated')
  @Query(() => AssistantIcon, {
    description:
      'Returns the icon of an assistant: the uploaded one, a PNG of at most 512 by 512 pixels or an SVG; else an SVG of the ' +
      'glyph or emoji that `icon` names, or of the initial of the name. Can be requested once in a document.',
  })
  async assistantIcon(
    @Ctx() ctx: Context,
    @Key('assistant') id: string,
    @Arg('t', () => Float, {
      nullable: true,
      description: 'Any integer. It has no effect: the `iconUrl` of each icon has another one.',
    })
    @Rule(intRule(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER))
    _t?: number | null,
  ) {
    return images.readIcon(ctx, id);
  }

  @Can('authenticated')
  @Query(() => AssistantIcon, {
    description:
      'Returns the favicon of an assistant: an ICO file with its icon in 16, 32 and 48 pixels. Can be requested once in a ' +
      'document.',
  })
  async assistantFavicon(@Ctx() ctx: Context, @Key('assistant') id: string) {
    return images.readFavicon(ctx, id);
  }

  @Can('assistant:write')
  @Mutation(() => Assistant, { description: 'Sets the icon of an assistant.' })
  async setAssistantIcon(
    @Ctx() ctx: Context,
    @Key('assistant') id: string,
    @Arg('input', { description: 'The icon.' }) input: SetAssistantIconInput,
    @Info() info: GraphQLResolveInfo,
  ) {
    return ctx.read.readAfterWrite(Assistant, await icons.setIcon(ctx, id, input), info);
  }

  @Can('assistant:write')
  @Mutation(() => Assistant, {
    description: 'Removes the uploaded icon of an assistant, if there is one. It then has the default icon again.',
  })
  async deleteAssistantIcon(@Ctx() ctx: Context, @Key('assistant') id: string, @Info() info: GraphQLResolveInfo) {
    return ctx.read.readAfterWrite(Assistant, await icons.removeIcon(ctx, id), info);
  }

  @Requires('uploadedIconId', 'updatedAt')
  @FieldResolver(() => String, { description: 'Path of the icon. It changes with the icon.' })
  iconUrl(@Root() assistant: { id: string; uploadedIconId: string | null; updatedAt: string }): string {
    return icons.iconUrlOf(assistant);
  }
}
