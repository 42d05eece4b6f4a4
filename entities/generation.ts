import { Entity, Property } from '@mikro-orm/decorators/legacy';
import type { IndexedField } from '../src/core/dataset-index.ts';
import { TenantRow } from './tenant-row.ts';

/** One immutable set of a dataset’s rows in the index. Replaced ones are kept a while for cursors and exports, then dropped by the janitor. */
@Entity()
export class Generation extends TenantRow {
  @Property({ type: 'uuid' })
  datasetId!: string;

  @Property({ type: 'json' })
  fields: IndexedField[] = [];

  @Property({ type: 'integer', columnType: 'bigint' })
  records: number = 0;

  @Property({ type: 'integer', columnType: 'bigint' })
  size: number = 0;

  /** When another took its place; null while readers see it. */
  @Property({ type: 'timestamptz', nullable: true })
  replacedAt?: Date | null;
}
