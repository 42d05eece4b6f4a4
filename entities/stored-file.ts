import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { TenantRow } from './tenant-row.ts';

/** Metadata of an uploaded file. Its bytes are in the file store under the same id, as long as the row exists. */
@Entity()
export class StoredFile extends TenantRow {
  /** Original file name without folders. Never used as a path. */
  @Property({ type: 'text' })
  filename!: string;

  /** Media type that the client sent. The content alone decides how the file is read. */
  @Property({ type: 'text' })
  contentType!: string;

  /** Size in bytes. */
  @Property({ type: 'integer', columnType: 'bigint' })
  size!: number;

  /** SHA-256 of the content, in hex. */
  @Property({ type: 'text' })
  sha256!: string;
}
