import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { TenantRow } from './tenant-row.ts';

/** What one user's front-ends keep for one dataset; nobody else sees it. Drafts and snapshots have those of their dataset. */
@Entity()
export class UserSetting extends TenantRow {
  @Property({ type: 'uuid' })
  datasetId!: string;

  @Property({ type: 'uuid' })
  userId!: string;

  @Property({ type: 'json' })
  settings: Record<string, unknown> = {};
}
