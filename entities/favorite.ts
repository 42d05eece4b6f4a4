import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import type { ResourceKind } from '../src/core/permissions.ts';
import { DateTime } from '../src/core/scalars.ts';
import { TenantRow } from './tenant-row.ts';

/** A user's mark on a resource that they want at hand; nobody else sees it (specification, "Query favorite"). */
@ObjectType({ description: 'The caller’s mark on a resource that they want at hand; nobody else sees it.' })
@Entity()
export class Favorite extends TenantRow {
  @Property({ type: 'text' })
  kind!: ResourceKind;

  @Field(() => ID, { description: 'The resource.' })
  @Property({ type: 'uuid' })
  resourceId!: string;

  @Field(() => ID, { description: 'Whose favourite it is.' })
  @Property({ type: 'uuid' })
  userId!: string;
}

/** A resource in its user's list of favourites, of any kind (contract 9, "Favourite record"). It is read from several tables and stored in none. */
@ObjectType({ description: 'A resource in the caller’s list of favourites, of any kind.' })
export class FavoriteResource {
  @Field(() => String, { description: 'What it is, e.g. `dataset` or `query`.' })
  kind!: ResourceKind;

  @Field(() => ID, { description: 'The resource.' })
  id!: string;

  @Field(() => String, { description: 'Display name of the resource.' })
  name!: string;

  @Field(() => DateTime, { description: 'When it became a favourite.' })
  createdAt!: Date;
}
