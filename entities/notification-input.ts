import { Field, InputType } from 'type-graphql';
import { Rule } from '../src/core/input-rules.ts';

@InputType({ description: 'Changes to a notification. Absent keys are unchanged.' })
export class UpdateNotificationInput {
  @Rule({ notNull: true })
  @Field(() => Boolean, { nullable: true, description: 'Whether the caller has read it. Cannot be null.' })
  read?: boolean | null;
}
