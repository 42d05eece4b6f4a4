import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, ObjectType, registerEnumType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** Keys are the names in GraphQL, values are the stored words. */
export const TemplateFileRoleEnum = { TEMPLATE: 'TEMPLATE', ASSET: 'ASSET', DATA: 'DATA' } as const;
export type TemplateFileRole = (typeof TemplateFileRoleEnum)[keyof typeof TemplateFileRoleEnum];
registerEnumType(TemplateFileRoleEnum, {
  name: 'TemplateFileRole',
  description: 'Role of a file of a template.',
  valuesConfig: {
    TEMPLATE: { description: 'Text or document in the language of the engine.' },
    ASSET: { description: 'Picture, font or other file that a document contains, e.g. a logo or a letterhead.' },
    DATA: { description: 'JSON or CSV that a document reads.' },
  },
});

@ObjectType({ description: 'A file of a template.', implements: Node })
@Entity()
export class TemplateFile extends TenantRow {
  @Field(() => ID, { description: 'Id of the template.' })
  @Property({ type: 'uuid' })
  templateId!: string;

  @Field(() => String, { description: 'Name, unique in the template. `/` separates folders.' })
  @Property({ type: 'text' })
  filename!: string;

  @Field(() => TemplateFileRoleEnum, { description: 'Role of the file. It cannot be changed.' })
  @Enum({ items: () => Object.values(TemplateFileRoleEnum), type: 'text' })
  role!: TemplateFileRole;

  @Field(() => String, { description: 'Media type with which the contents are sent.' })
  @Property({ type: 'text' })
  contentType!: string;

  @Field(() => Boolean, { description: 'Whether the file is part of another file, so that pickers hide it.' })
  @Property({ type: 'boolean' })
  embedded: boolean = false;

  @Field(() => Float, { description: 'Size in bytes.' })
  size!: number;

  @Field(() => String, { description: 'SHA-256 of the contents, in hexadecimal.' })
  sha256!: string;

  /** Id of the stored file with the contents, which a draft and its template share. Null for an empty file. */
  @Property({ type: 'uuid', nullable: true })
  fileId?: string | null;

  /** In a draft: id of the file that this is a copy of. Null for a new file, and outside drafts. */
  @Property({ type: 'uuid', nullable: true })
  originalId?: string | null;
}
