import { Field, InputType } from 'type-graphql';
import type { IncomingFile } from '../src/core/files.ts';
import { FileContent } from '../src/core/scalars.ts';

@InputType({ description: 'The contents of a file of an app.' })
export class SetAppFileInput {
  @Field(() => FileContent, { description: 'The bytes. In REST: the body itself, of any type.' })
  file!: IncomingFile;
}
