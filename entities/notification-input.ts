import { Field, InputType } from 'type-graphql';

/** Changes to a notification. */
@InputType({ description: 'Changes to a notification. Absent keys are unchanged.' })
export class UpdateNotificationInput {
  @Field(() => Boolean, { nullable: true, description: 'Whether the caller has read it. Cannot be null.' })
  read?: boolean | null;
}
