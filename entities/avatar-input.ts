import { Field, InputType, Int } from 'type-graphql';
import type { IncomingFile } from '../src/core/files.ts';
import { FileContent } from '../src/core/scalars.ts';

@InputType({ description: 'A new avatar.' })
export class SetAvatarInput {
  @Field(() => FileContent, {
    description: 'PNG, JPEG, WebP, GIF or SVG of at most 5 MB. In a form: the first file part, with any part name.',
  })
  file!: IncomingFile;
}

@InputType({
  description:
    'A part of a new avatar. Its number and the number of parts are required: `chunk` and `chunks`, or, as Flow.js names ' +
    'them, `flowChunkNumber` and `flowTotalChunks`.',
})
export class AvatarPartInput {
  @Field(() => FileContent, {
    description: 'Bytes of the part, at least one. In a form: the first file part, with any part name.',
  })
  file!: IncomingFile;

  @Field(() => Int, { nullable: true, description: 'Number of the part, from 0.' })
  chunk?: number | null;

  @Field(() => Int, { nullable: true, description: 'Number of all parts, at most 100. The same for all parts.' })
  chunks?: number | null;

  @Field(() => Int, { nullable: true, description: 'Number of the part, from 1. Only without `chunk`.' })
  flowChunkNumber?: number | null;

  @Field(() => Int, { nullable: true, description: 'Number of all parts. Only with `flowChunkNumber`.' })
  flowTotalChunks?: number | null;
}
