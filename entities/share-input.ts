import { Field, InputType, Int } from 'type-graphql';

/** The access that a share grants. */
@InputType({ description: 'The access that a share grants.' })
export class ShareInput {
  @Field(() => Int, {
    description: 'Access level: 1 (View), 2 (Edit) or 3 (Admin). At most the caller’s own level.',
  })
  accessLevel!: number;
}
