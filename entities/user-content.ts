import { Field, ID, Int, ObjectType } from 'type-graphql';
import { JsonObject } from '../src/core/scalars.ts';
import { UuidField } from '../src/core/uuid-field.ts';

/** Numbers of resources of one user. See docs/contract/people.md#users. */
@ObjectType({ description: 'Numbers of resources that a user owns, without resources of their teams.' })
export class UserContent {
  @UuidField()
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
