import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { ResourceKind, ShareLevel } from '../src/core/permissions.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** Access to one resource that is granted to a principal other than its owner (docs/contract.md#shares). */
@ObjectType({
  description: 'Access to one resource that is granted to a user or team other than its owner.',
  implements: Node,
})
@Entity()
export class Share extends TenantRow {
  @Property({ type: 'text' })
  kind!: ResourceKind;

  @Field(() => ID, { description: 'Id of the resource.' })
  @Property({ type: 'uuid' })
  resourceId!: string;

  /** `user:<id>` or `team:<id>`. */
  @Property({ type: 'text' })
  principal!: string;

  @Field(() => Int, { description: 'Access level: 1 is View, 2 is Edit, 3 is Admin.' })
  @Property({ type: 'integer' })
  accessLevel!: ShareLevel;

  @Field(() => ID, {
    nullable: true,
    description: 'Datasets only: id of the saved filter whose rows it shows. Null for all rows.',
  })
  @Property({ type: 'uuid', nullable: true })
  datasetFilterId?: string | null;

  @Field(() => Boolean, {
    description:
      'Datasets only: whether it shows only `visibleFields`. Ignored while the field security of the dataset is off.',
  })
  @Property({ type: 'boolean' })
  restrictFields: boolean = false;

  @Field(() => [String], {
    nullable: true,
    description: 'Datasets only: names of the fields that it shows when `restrictFields` is true.',
  })
  @Property({ type: 'json', nullable: true })
  visibleFields?: string[] | null;
}
