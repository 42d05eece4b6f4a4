import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { AppEvent } from './app-event.ts';
import { MonthlyBudget } from './monthly-budget.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** An agent of an assistant: it acts without a user, with the rights of its owner (docs/contract/agents.md#agents). */
@ObjectType({
  description: 'An agent of an assistant. Events of apps and users start it, and it runs with the rights of its owner.',
  implements: Node,
})
@Entity()
export class Agent extends TenantRow {
  @Field(() => String, { description: 'Display name.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => ID, { description: 'Id of the assistant. It cannot be changed.' })
  @Property({ type: 'uuid' })
  assistantId!: string;

  @Field(() => ID, { description: 'Id of the user who created it, with whose rights it runs.' })
  @Property({ type: 'uuid' })
  ownerId!: string;

  @Field(() => [AppEvent], {
    description: 'Events of apps on which it runs. Empty: the events of its assistant.',
  })
  @Property({ type: 'json' })
  events: AppEvent[] = [];

  /** The apps whose events may start it, by their ids, with the principals who owned them when its owner accepted them. */
  @Property({ type: 'json' })
  acceptedApps: Record<string, string> = {};

  @Field(() => String, {
    nullable: true,
    description: 'Instructions for the model, in addition to the instructions of the assistant; null for none.',
  })
  @Property({ type: 'text', nullable: true })
  instructions?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Id of its usage profile, which applies in addition to the limits of its owner. Null: none.',
  })
  @Property({ type: 'uuid', nullable: true })
  usageProfileId?: string | null;

  @Field(() => Boolean, { description: 'Whether events start it.' })
  @Property({ type: 'boolean' })
  enabled: boolean = true;

  @Field(() => Boolean, {
    description:
      'Whether its owner has accepted it. False after another user has changed its behaviour, until its owner runs or ' +
      'enables it. Until then neither events nor other users start it.',
  })
  @Property({ type: 'boolean' })
  accepted: boolean = true;

  @MonthlyBudget()
  monthlyBudget?: number | null;
}
