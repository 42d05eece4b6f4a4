import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { TenantRow } from './tenant-row.ts';

/** Criteria that somebody keeps under a name, for themselves, their team or a share (specification, "Saved filter"). */
@ObjectType({
  description:
    'Criteria over a dataset’s rows that somebody keeps under a name, for themselves, their team, or a share.',
})
@Entity()
export class SavedFilter extends TenantRow {
  @Field(() => ID, { description: 'The dataset whose rows it chooses.' })
  @Property({ type: 'uuid' })
  datasetId!: string;

  @Field(() => String, { description: 'Display name.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'What it is for, in the words of its people.' })
  @Property({ type: 'text', nullable: true })
  description?: string | null;

  @Field(() => ID, { description: 'Whose it is: `user:<id>` or `team:<id>`.' })
  @Property({ type: 'text' })
  ownerId!: string;

  @Property({ type: 'json' })
  criteria!: Record<string, unknown>;
}
