import { Field, ID, InputType } from 'type-graphql';
import { DESCRIPTION_RULE, NAME_RULE, Rule, SLUG_RULE } from '../src/core/input-rules.ts';

/** The input fields of every kind with owners. */
@InputType({ description: 'The input fields of every resource with an owner.' })
export abstract class UpdateOwnedInput {
  @Rule(NAME_RULE)
  @Field(() => String, { nullable: true, description: 'Display name, 1 to 255 characters.' })
  name?: string | null;

  @Rule(SLUG_RULE)
  @Field(() => String, {
    nullable: true,
    description:
      'Short name: lower-case letters, digits and hyphens, at most 100 characters. ' +
      'Unique in the tenant among resources of the same kind. On creation, derived from the name by default.',
  })
  slug?: string;

  @Rule(DESCRIPTION_RULE)
  @Field(() => String, { nullable: true, description: 'Description, at most 10,000 characters; null clears it.' })
  description?: string | null;

  @Rule({ notNull: true })
  @Field(() => ID, {
    nullable: true,
    description: 'Owner: `user:<id>`, `team:<id>`, a user id or a username. On creation, the caller by default.',
  })
  ownerId?: string;

  @Field(() => ID, { nullable: true, description: 'Id of the folder; null for no folder.' })
  folderId?: string | null;

  @Field(() => [ID], {
    nullable: true,
    description:
      'Ids of all tags of the resource; null for none. ' +
      'Changing them requires the permission `assignTags` on the resource.',
  })
  tags?: string[] | null;
}
