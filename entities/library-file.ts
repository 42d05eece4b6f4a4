import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** Keys are the names in GraphQL, values are the stored words. */
export const LibraryFileStatusEnum = { SYNCED: 'synced', SKIPPED: 'skipped', FAILED: 'failed' } as const;
export type LibraryFileStatus = (typeof LibraryFileStatusEnum)[keyof typeof LibraryFileStatusEnum];
registerEnumType(LibraryFileStatusEnum, {
  name: 'LibraryFileStatus',
  description: 'Whether a library has the contents of a file.',
  valuesConfig: {
    SYNCED: { description: 'The contents are from the last sync.' },
    SKIPPED: { description: 'The contents are not kept, for the given reason.' },
    FAILED: { description: 'The contents could not be read. The next sync tries again.' },
  },
});

/** See docs/contract/libraries.md#files-of-libraries. */
@ObjectType({ description: 'A file of a library.', implements: Node })
@Entity()
export class LibraryFile extends TenantRow {
  @Field(() => ID, { description: 'Id of the library.' })
  @Property({ type: 'uuid' })
  libraryId!: string;

  @Field(() => String, { description: 'Id of the file at the provider.' })
  @Property({ type: 'text' })
  fileId!: string;

  @Field(() => String, { description: 'File name.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, {
    description: 'Path from the root of the library, e.g. `a/b.txt`. Two files may have the same.',
  })
  @Property({ type: 'text' })
  path!: string;

  @Field(() => String, { description: 'Media type.' })
  @Property({ type: 'text' })
  contentType!: string;

  @Field(() => Float, { nullable: true, description: 'Size in bytes; null if the provider does not state it.' })
  @Property({ type: 'integer', columnType: 'bigint', nullable: true })
  size?: number | null;

  @Field(() => String, { nullable: true, description: 'Hash of the contents as the provider states it.' })
  @Property({ type: 'text', nullable: true })
  hash?: string | null;

  @Field(() => LibraryFileStatusEnum, { description: 'Whether the library has the contents.' })
  @Enum({ items: () => Object.values(LibraryFileStatusEnum), type: 'text' })
  status!: LibraryFileStatus;

  @Field(() => String, { nullable: true, description: 'Why it is skipped or failed; null if it is synced.' })
  @Property({ type: 'text', nullable: true })
  reason?: string | null;

  @Field(() => String, { nullable: true, description: 'Page of the file at the provider.' })
  @Property({ type: 'text', nullable: true })
  url?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Time of the last change at the provider.' })
  @Property({ type: 'timestamptz', nullable: true })
  modifiedAt?: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Time at which the contents were stored; null if they are not.',
  })
  @Property({ type: 'timestamptz', nullable: true })
  syncedAt?: Date | null;

  @Field(() => String, {
    nullable: true,
    description: 'SHA-256 of the contents, in hexadecimal; null if they are not kept.',
  })
  sha256?: string | null;

  /** Id of the stored file with the contents. Null if they are not kept. */
  @Property({ type: 'uuid', nullable: true })
  storedFileId?: string | null;
}
