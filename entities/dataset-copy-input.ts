import { Field, InputType } from 'type-graphql';

/** A new copy of a dataset. */
@InputType({ description: 'A new copy of a dataset.' })
export class CopyDatasetInput {
  @Field(() => String, { description: 'Display name.' })
  name!: string;
}
