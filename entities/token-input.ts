import { Field, InputType } from 'type-graphql';
import { CLIENT_NAME_RULE, NAME_RULE, Rule } from '../src/core/input-rules.ts';
import { DateTime } from '../src/core/scalars.ts';
import { TokenScopeEnum, type TokenScope } from './api-token.ts';

@InputType({ description: 'A new API token.' })
export class CreateTokenInput {
  @Rule(NAME_RULE)
  @Field(() => String, { description: 'Display name.' })
  name!: string;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Expiry time, in the future. By default the token never expires.',
  })
  expiresAt?: Date | null;

  @Rule({ minItems: 1 })
  @Field(() => [TokenScopeEnum], { nullable: true, description: 'Scopes, at least one. Default: `read` and `write`.' })
  scopes?: TokenScope[] | null;

  @Rule(CLIENT_NAME_RULE)
  @Field(() => String, {
    nullable: true,
    description:
      'Name of the client that uses it, whose mode decides which documents it may run. It cannot be changed.',
  })
  client?: string | null;
}
