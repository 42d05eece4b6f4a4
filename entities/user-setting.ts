import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { DateTime, JsonObject } from '../src/core/scalars.ts';
import { TenantRow } from './tenant-row.ts';

/**
 * Settings that one user's front-ends store for one dataset. Visible to that user only.
 * Drafts and snapshots use the row of their dataset (docs/contract/datasets.md#user-settings).
 */
@Entity()
export class UserSetting extends TenantRow {
  @Property({ type: 'uuid' })
  datasetId!: string;

  @Property({ type: 'uuid' })
  userId!: string;

  @Property({ type: 'json' })
  settings: Record<string, unknown> = {};
}

/** The settings that the API returns. */
@ObjectType({ description: 'Settings that the caller’s front-ends store for a dataset. Visible to the caller only.' })
export class UserSettings {
  @Field(() => JsonObject, { description: 'Any JSON object. Empty when no settings are stored.' })
  settings!: Record<string, unknown>;

  @Field(() => DateTime, { nullable: true, description: 'Time of the last change. Null when no settings are stored.' })
  updatedAt!: string | null;
}
