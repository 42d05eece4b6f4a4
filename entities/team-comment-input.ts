import { Field, InputType } from 'type-graphql';
import { Rule, textRule } from '../src/core/input-rules.ts';

/** Maximum length of a comment, in code points. */
const MAX_COMMENT_CHARACTERS = 10_000;

@InputType({ description: 'A new comment.' })
export class CreateTeamCommentInput {
  @Rule(textRule(MAX_COMMENT_CHARACTERS))
  @Field(() => String, {
    description:
      'Text of 1 to 10,000 characters (code points), not only white space, without control characters other than tabs ' +
      'and line breaks. It is stored as it is sent.',
  })
  message!: string;
}
