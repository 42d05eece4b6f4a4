import { Field, ID, Int, ObjectType } from 'type-graphql';
import { JsonObject } from '../src/core/scalars.ts';

/** What one user owns. See docs/contract.md#users. */
@ObjectType({ description: 'Number of resources that a user owns, without those of their teams.' })
export class UserContent {
  @Field(() => ID, { description: 'Id of the user.' })
  userId!: string;

  @Field(() => String, { description: 'Username.' })
  username!: string;

  @Field(() => String, { nullable: true, description: 'Display name.' })
  displayName!: string | null;

  @Field(() => JsonObject, {
    description:
      'Number of resources by kind, e.g. `{"dataset": 3, "report": 0}`. Contains every kind. Drafts and snapshots are ' +
      'not counted.',
  })
  counts!: Record<string, number>;

  @Field(() => Int, { description: 'Number of resources of all kinds.' })
  total!: number;
}
