import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** A named criteria object over a dataset's rows (docs/contract/datasets.md#saved-filters). */
@ObjectType({
  description:
    'Named criteria over a dataset’s rows. Visible to its owner only, unless a share of the dataset uses it.',
  implements: Node,
})
@Entity()
export class SavedFilter extends TenantRow {
  @Field(() => ID, { description: 'Id of the dataset whose rows it filters.' })
  @Property({ type: 'uuid' })
  datasetId!: string;

  @Field(() => String, { description: 'Display name.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Description.' })
  @Property({ type: 'text', nullable: true })
  description?: string | null;

  @Field(() => ID, { description: 'Owner: `user:<id>` or `team:<id>`.' })
  @Property({ type: 'text' })
  ownerId!: string;

  @Property({ type: 'json' })
  criteria!: Record<string, unknown>;
}
