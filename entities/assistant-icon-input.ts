import { Field, InputType } from 'type-graphql';
import type { IncomingFile } from '../src/core/files.ts';
import { FileContent } from '../src/core/scalars.ts';

@InputType({ description: 'A new icon of an assistant.' })
export class SetAssistantIconInput {
  @Field(() => FileContent, {
    description: 'PNG, JPEG, WebP, GIF or SVG of at most 5 MB. In a form: the first file part, with any part name.',
  })
  file!: IncomingFile;
}
