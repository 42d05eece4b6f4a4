import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import type { ResourceKind } from '../src/core/permissions.ts';
import { DateTime } from '../src/core/scalars.ts';
import { UuidField } from '../src/core/uuid-field.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';
import { ResourceKindEnum } from './word-enum.ts';

/**
 * A resource marked as a favourite by a user. No other user has access to it (docs/contract/resources.md#favorites).
 */
@ObjectType({ description: 'A resource marked as a favourite by the caller. No other user sees it.', implements: Node })
@Entity()
export class Favorite extends TenantRow {
  @Property({ type: 'text' })
  kind!: ResourceKind;

  @Field(() => ID, { description: 'Id of the resource.' })
  @Property({ type: 'uuid' })
  resourceId!: string;

  @Field(() => ID, { description: 'Id of the user whose favourite it is.' })
  @Property({ type: 'uuid' })
  userId!: string;
}

/** A favourite resource of any kind. It is read from the tables of all kinds (favorite-model.ts). */
@ObjectType({ description: 'A favourite resource of the caller, of any kind.' })
export class FavoriteResource {
  @Field(() => ResourceKindEnum, { description: 'Kind of the resource, e.g. `dataset` or `query`.' })
  kind!: ResourceKind;

  @UuidField()
  @Field(() => ID, { description: 'Id of the resource.' })
  id!: string;

  @Field(() => String, { description: 'Display name of the resource.' })
  name!: string;

  @Field(() => DateTime, { description: 'Time at which it became a favourite.' })
  createdAt!: Date;
}
