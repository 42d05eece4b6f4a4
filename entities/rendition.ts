import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** A document that a user rendered from a template. Only that user sees it. It is deleted at `expiresAt`. */
@ObjectType({
  description:
    'A document that was rendered from a template. Only the user who rendered it sees it, until ' +
    '`expiresAt`: 24 hours, one for a preview. The oldest are deleted earlier beyond 200 or 2 GB.',
  implements: Node,
})
@Entity()
export class Rendition extends TenantRow {
  @Field(() => ID, { description: 'Id of the template.' })
  @Property({ type: 'uuid' })
  templateId!: string;

  /** The user or team that rendered it. */
  @Property({ type: 'uuid' })
  userId!: string;

  @Field(() => String, { description: 'Id of the handler that created it, e.g. `pdf`.' })
  @Property({ type: 'text' })
  handler!: string;

  @Field(() => String, { description: 'Name of the file.' })
  @Property({ type: 'text' })
  filename!: string;

  @Field(() => String, { description: 'Media type.' })
  @Property({ type: 'text' })
  contentType!: string;

  @Field(() => Float, { description: 'Size in bytes.' })
  @Property({ type: 'integer', columnType: 'bigint' })
  size!: number;

  @Field(() => Int, { nullable: true, description: 'Number of pages of a PDF; null for other documents.' })
  @Property({ type: 'integer', nullable: true })
  pages?: number | null;

  @Field(() => DateTime, { description: 'Time at which it is deleted.' })
  @Property({ type: 'timestamptz' })
  expiresAt!: Date;

  @Field(() => String, { description: 'SHA-256 of the contents, in hexadecimal.' })
  sha256!: string;

  /** Id of the stored file with the contents. */
  @Property({ type: 'uuid' })
  fileId!: string;
}
