import { ArgsType, Field, ID } from 'type-graphql';
import { Image } from '../../entities/image.ts';
import { PageArgs, pageOf } from '../support/page.ts';

export const ImagePage = pageOf(Image, 'Image');

/** Filter and page of images. */
@ArgsType()
export class ImagePageArgs extends PageArgs {
  @Field(() => ID, { nullable: true, description: 'Id, slug or natural id of an assistant. Returns only its images.' })
  assistantId?: string;
}
