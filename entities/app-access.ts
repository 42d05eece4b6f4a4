import { Field, InputType, ObjectType } from 'type-graphql';
import { APP_SCOPE_NAMES, APP_SCOPES, type AppScope, type DeclaredAccess } from '../src/core/app-access.ts';
import { wordEnum } from './word-enum.ts';

/** The scopes of grants to apps. */
export const AppScopeEnum = wordEnum(
  'AppScope',
  'A use of the rights of a user, who does not own the app, by its code.',
  APP_SCOPE_NAMES,
  (scope) => `To ${APP_SCOPES[scope]}.`,
);

/**
 * The declaration of an app about how its code uses the rights of its callers (docs/contract/handlers.md#grants-to-apps).
 */
@ObjectType({ description: 'Declared use of callers’ rights by the code of an app, once they have agreed.' })
export class AppAccess implements DeclaredAccess {
  @Field(() => [AppScopeEnum], { description: 'The scopes that its code uses.' })
  scopes: AppScope[] = [];

  @Field(() => [AppScopeEnum], { description: 'The scopes without which its handlers do not run.' })
  required: AppScope[] = [];

  @Field(() => [String], { description: 'Hosts that receive data that it has read, e.g. `api.example.com`.' })
  hosts: string[] = [];
}

@InputType({ description: 'Declaration of how the code of an app uses the rights of its callers.' })
export class AppAccessInput {
  @Field(() => [AppScopeEnum], { nullable: true, description: 'The scopes that its code uses. Default: none.' })
  scopes?: AppScope[] | null;

  @Field(() => [AppScopeEnum], {
    nullable: true,
    description: 'The subset of `scopes` without which its handlers do not run. Default: none.',
  })
  required?: AppScope[] | null;

  @Field(() => [String], {
    nullable: true,
    description:
      'Hosts that receive data that it has read, e.g. `api.example.com` (at most 20, with the port if it is not the ' +
      'default). They require the scope `send`. Default: none.',
  })
  hosts?: string[] | null;
}
