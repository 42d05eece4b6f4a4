import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { LEVEL, type ResourceKind, type ShareLevel } from '../src/core/permissions.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

export const ShareLevelEnum = {
  VIEW: LEVEL.view,
  EDIT: LEVEL.edit,
  ADMIN: LEVEL.admin,
  NONE: LEVEL.none,
} as const satisfies Record<string, ShareLevel>;
registerEnumType(ShareLevelEnum, {
  name: 'ShareLevel',
  description:
    'Access level that a share grants. Each level includes the lower ones. REST has the numbers 0 (None), 1 (View), ' +
    '2 (Edit) and 3 (Admin). Libraries have 0 and 1, the other kinds 1 to 3.',
  valuesConfig: {
    VIEW: { description: 'Can read the resource.' },
    EDIT: { description: 'Can also update the resource.' },
    ADMIN: { description: 'Can also share and delete the resource.' },
    NONE: { description: 'Grants nothing. Libraries only.' },
  },
});

/** Access to one resource that is granted to a principal other than its owner (docs/contract/access.md#shares). */
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

  @Field(() => ShareLevelEnum, { description: 'Access level.' })
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
