import { Field, ID, InputType } from 'type-graphql';

/** What all kinds with owners take when they change. */
@InputType({ description: 'What all kinds with owners take when they change.' })
export abstract class UpdateOwnedInput {
  @Field(() => String, { nullable: true, description: 'Display name.' })
  name?: string;

  @Field(() => String, {
    nullable: true,
    description: 'Short name, unique in the tenant among its kind; made of the name by default.',
  })
  slug?: string;

  @Field(() => String, { nullable: true, description: 'What it is for.' })
  description?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Who owns it: `user:<id>`, `team:<id>`, a user’s id or name. By default whoever makes it.',
  })
  ownerId?: string;

  @Field(() => ID, { nullable: true, description: 'The folder it lies in; null for none.' })
  folderId?: string | null;

  @Field(() => [ID], {
    nullable: true,
    description:
      'Ids of its tags; replaces the former, null for none. Needs the permission to assign tags when they change.',
  })
  tags?: string[] | null;
}
