import { Field, InputType } from 'type-graphql';

/** A new team. */
@InputType({ description: 'A new team.' })
export class CreateTeamInput {
  @Field(() => String, { description: 'Display name.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Short name. Derived from the name by default.' })
  slug?: string;

  @Field(() => String, { nullable: true, description: 'Description.' })
  description?: string | null;
}

/** Changes to a team. */
@InputType({ description: 'Changes to a team. Absent keys are unchanged, and null clears a value.' })
export class UpdateTeamInput implements Partial<CreateTeamInput> {
  @Field(() => String, { nullable: true, description: 'Display name.' })
  name?: string;

  @Field(() => String, { nullable: true, description: 'Short name.' })
  slug?: string;

  @Field(() => String, { nullable: true, description: 'Description.' })
  description?: string | null;
}
