import { Field, InputType } from 'type-graphql';
import { FILE_PATH_RULE } from '../src/core/file-path.ts';
import type { IncomingFile } from '../src/core/files.ts';
import { Rule } from '../src/core/input-rules.ts';
import { MEDIA_TYPE_RULE } from '../src/core/media-types.ts';
import { FileContent } from '../src/core/scalars.ts';
import { TemplateFileRoleEnum, type TemplateFileRole } from './template-file.ts';

@InputType({ description: 'Changes to a file of a template. Absent keys are unchanged.' })
export class UpdateTemplateFileInput {
  @Rule({ ...FILE_PATH_RULE, notNull: true })
  @Field(() => String, {
    nullable: true,
    description:
      'Name, unique in the template: 1 to 255 characters, in which `/` separates at most 8 folders. A file with the role ' +
      'TEMPLATE keeps its name.',
  })
  filename?: string;

  @Rule({ ...MEDIA_TYPE_RULE, notNull: true })
  @Field(() => String, {
    nullable: true,
    description:
      'Media type with which the contents are sent. On creation, by default the media type of the extension.',
  })
  contentType?: string;

  @Rule({ notNull: true })
  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the file is part of another file, so that pickers hide it. On creation false by default.',
  })
  embedded?: boolean;
}

@InputType({ description: 'A new file of a template, which is empty.' })
export class CreateTemplateFileInput extends UpdateTemplateFileInput {
  @Field(() => String, {
    description: 'Name, unique in the template: 1 to 255 characters, in which `/` separates at most 8 folders.',
  })
  override filename!: string;

  @Field(() => TemplateFileRoleEnum, { description: 'Role of the file. It cannot be changed.' })
  role!: TemplateFileRole;
}

@InputType({ description: 'A file to upload to a template.' })
export class UploadTemplateFileInput {
  @Field(() => FileContent, { description: 'The file. In a form: the first file part, with any part name.' })
  file!: IncomingFile;

  @Rule({ ...FILE_PATH_RULE, notNull: true })
  @Field(() => String, {
    nullable: true,
    description: 'Name, unique in the template. By default the file name of the part, without folders.',
  })
  filename?: string;

  @Rule({ notNull: true })
  @Field(() => TemplateFileRoleEnum, {
    nullable: true,
    description:
      'Role of the file. By default TEMPLATE if the template has none yet and its engine takes the extension, else ' +
      'ASSET.',
  })
  role?: TemplateFileRole;

  @Rule({ notNull: true })
  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the file is part of another file, so that pickers hide it. False by default.',
  })
  embedded?: boolean;
}

@InputType({ description: 'The contents of a file of a template.' })
export class SetTemplateFileContentsInput {
  @Field(() => FileContent, { description: 'The bytes. In REST: the body itself, of any type.' })
  file!: IncomingFile;
}
