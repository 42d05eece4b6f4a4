import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, ObjectType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** See docs/contract/apps.md#files-of-apps. */
@ObjectType({ description: 'A file of an app: code, a migration, or a file that the code reads.', implements: Node })
@Entity()
export class AppFile extends TenantRow {
  @Field(() => ID, { description: 'Id of the app.' })
  @Property({ type: 'uuid' })
  appId!: string;

  @Field(() => String, { description: 'Path, unique in the app. `/` separates folders.' })
  @Property({ type: 'text' })
  path!: string;

  @Field(() => String, { description: 'Media type with which the contents are sent.' })
  @Property({ type: 'text' })
  contentType!: string;

  @Field(() => Float, { description: 'Size in bytes.' })
  size!: number;

  @Field(() => String, { description: 'SHA-256 of the contents, in hexadecimal.' })
  sha256!: string;

  /** Id of the stored file with the contents. */
  @Property({ type: 'uuid' })
  fileId!: string;
}
