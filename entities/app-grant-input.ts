import { Field, ID, InputType } from 'type-graphql';
import type { AppScope } from '../src/core/app-access.ts';
import { AppScopeEnum } from './app-access.ts';

@InputType({ description: 'Rights that the caller grants to an app. They replace earlier grants.' })
export class AppGrantInput {
  @Field(() => [AppScopeEnum], { description: 'Scopes among those that the active release of the app declares.' })
  scopes!: AppScope[];

  @Field(() => [String], {
    nullable: true,
    description: 'Hosts among those that the release declares. They require the scope `send`. Default: none.',
  })
  hosts?: string[] | null;

  @Field(() => ID, {
    nullable: true,
    description:
      'Id of the release whose declaration the caller has seen. CONFLICT if another one is active. Default: the active release.',
  })
  releaseId?: string | null;
}
