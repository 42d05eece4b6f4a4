import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { TenantRow } from './tenant-row.ts';

/** A file that somebody gave to the service. Its bytes are in the file store under the same id, for as long as the row is there. */
@Entity()
export class StoredFile extends TenantRow {
  /** As its giver calls it, without folders; it never makes a path. */
  @Property({ type: 'text' })
  filename!: string;

  /** As its giver says; what it really is, the bytes decide. */
  @Property({ type: 'text' })
  contentType!: string;

  @Property({ type: 'integer', columnType: 'bigint' })
  size!: number;

  /** Of the bytes, in hex. */
  @Property({ type: 'text' })
  sha256!: string;
}
