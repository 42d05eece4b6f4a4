import { Field, InputType, Int } from 'type-graphql';

/** What a share gives. */
@InputType({ description: 'What a share gives.' })
export class ShareInput {
  @Field(() => Int, { description: '1 View, 2 Edit, 3 Admin; never above the caller’s own.' })
  accessLevel!: number;
}
