import { Field, InputType, ObjectType } from 'type-graphql';
import { APP_SCOPE_NAMES, APP_SCOPES, type AppScope, type DeclaredAccess } from '../src/core/app-access.ts';
import { wordEnum } from './word-enum.ts';

/** The scopes of grants to apps. */
export const AppScopeEnum = wordEnum(
  'AppScope',
  'What code of an app may do with the rights of a user who does not own it.',
  APP_SCOPE_NAMES,
  (scope) => `To ${APP_SCOPES[scope]}.`,
);

/** What an app declares that its code does with the rights of its callers (docs/contract.md#grants-to-apps). */
@ObjectType({ description: 'What the code of an app does with the rights of its callers, once they have agreed.' })
export class AppAccess implements DeclaredAccess {
  @Field(() => [AppScopeEnum], { description: 'The scopes that its code uses.' })
  scopes: AppScope[] = [];

  @Field(() => [AppScopeEnum], { description: 'The scopes without which its handlers do not run.' })
  required: AppScope[] = [];

  @Field(() => [String], { description: 'Hosts to which it sends what it has read, e.g. `api.example.com`.' })
  hosts: string[] = [];
}

/** The declaration of an app. */
@InputType({ description: 'Declaration of what the code of an app does with the rights of its callers.' })
export class AppAccessInput {
  @Field(() => [AppScopeEnum], { nullable: true, description: 'The scopes that its code uses. Default: none.' })
  scopes?: AppScope[] | null;

  @Field(() => [AppScopeEnum], {
    nullable: true,
    description: 'Those of `scopes` without which its handlers do not run. Default: none.',
  })
  required?: AppScope[] | null;

  @Field(() => [String], {
    nullable: true,
    description:
      'Hosts to which it sends what it has read, e.g. `api.example.com` (at most 20, with the port if it is not the ' +
      'default). They require the scope `send`. Default: none.',
  })
  hosts?: string[] | null;
}
