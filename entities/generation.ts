import { Entity, Property } from '@mikro-orm/decorators/legacy';
import type { IndexedField } from '../src/core/dataset-index.ts';
import { TenantRow } from './tenant-row.ts';

/**
 * One immutable set of a dataset's rows in the index. A replaced generation stays readable for some minutes, for
 * cursors and exports; the janitor then deletes it.
 */
@Entity()
export class Generation extends TenantRow {
  @Property({ type: 'uuid' })
  datasetId!: string;

  @Property({ type: 'json' })
  fields: IndexedField[] = [];

  @Property({ type: 'integer', columnType: 'bigint' })
  records: number = 0;

  /** Bytes in the index. */
  @Property({ type: 'integer', columnType: 'bigint' })
  size: number = 0;

  /** Time when another generation replaced this one; null while readers see it. */
  @Property({ type: 'timestamptz', nullable: true })
  replacedAt?: Date | null;
}
