import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';
import { AppAccess } from './app-access.ts';
import { MonthlyBudget } from './monthly-budget.ts';
import { Node } from './node.ts';
import { OwnedRow } from './owned-row.ts';

const AppStatusEnum = { DRAFT: 'draft', DEPLOYED: 'deployed', FAILED: 'failed' } as const;
export type AppStatus = (typeof AppStatusEnum)[keyof typeof AppStatusEnum];
registerEnumType(AppStatusEnum, {
  name: 'AppStatus',
  description: 'State of the deployment of an app.',
  valuesConfig: {
    DRAFT: { description: 'The app was never deployed.' },
    DEPLOYED: { description: 'The app is deployed.' },
    FAILED: { description: 'The last deployment failed.' },
  },
});

/** See docs/contract/resources.md#resources. */
@ObjectType({
  description: 'Custom code that runs in the service, with its own database schema.',
  implements: Node,
})
@Entity()
export class App extends OwnedRow {
  /** Environment variables as encrypted JSON: pairs of name and value. No API returns it. Null if there are none. */
  @Property({ type: 'text', nullable: true, lazy: true })
  env?: string | null;

  /** The names in `env` in alphabetical order. */
  @Property({ type: 'json' })
  envNames: string[] = [];

  @Field(() => AppStatusEnum, { description: 'Deployment status.' })
  @Enum({ items: () => Object.values(AppStatusEnum), type: 'text' })
  status: AppStatus = 'draft';

  @Field(() => DateTime, { nullable: true, description: 'Time of the last deployment; null if there was none.' })
  @Property({ type: 'timestamptz', nullable: true })
  deployedAt?: Date | null;

  @Field(() => String, {
    nullable: true,
    description: 'Name of its database schema; null until its first migration.',
  })
  @Property({ type: 'text', nullable: true })
  schemaName?: string | null;

  @Field(() => Boolean, {
    description:
      'Whether its owner has accepted it. An app that another user gave to its owner is not: its webhooks, mails and ' +
      'notifications, which have the rights of the owner, are off until the owner deploys it or returns to a release.',
  })
  @Property({ type: 'boolean' })
  accepted: boolean = true;

  @Field(() => AppAccess, {
    description: 'Declared use of callers’ rights by its code. It applies from the next deployment.',
  })
  @Property({ type: 'json' })
  access: AppAccess = new AppAccess();

  @MonthlyBudget()
  monthlyBudget?: number | null;
}
