import { Field, ID, ObjectType } from 'type-graphql';
import type { ResourceKind } from '../src/core/permissions.ts';
import { UuidField } from '../src/core/uuid-field.ts';
import { ResourceKindEnum } from './word-enum.ts';

/** A resource of any kind with owners, read from the tables of all kinds (resource-model.ts). */
@ObjectType({ description: 'A resource of any kind with owners, without drafts and snapshots.' })
export class Resource {
  @Field(() => ResourceKindEnum, { description: 'Kind of the resource, e.g. `dataset` or `query`.' })
  kind!: ResourceKind;

  @UuidField()
  @Field(() => ID, { description: 'Id of the resource.' })
  id!: string;

  @Field(() => String, { description: 'Display name of the resource.' })
  name!: string;
}
