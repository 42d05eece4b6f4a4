import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { AppEvent } from './app-event.ts';
import { MonthlyBudget } from './monthly-budget.ts';
import { Node } from './node.ts';
import { OwnedRow } from './owned-row.ts';

/**
 * Instructions, data and tools with which a model helps users; its agents act on events
 * (docs/contract/agents.md#assistants).
 */
@ObjectType({
  description: 'Instructions, data and tools with which a model helps users. Its agents act on events.',
  implements: Node,
})
@Entity()
export class Assistant extends OwnedRow {
  @Field(() => String, {
    nullable: true,
    description:
      'Default icon, if no icon is uploaded: the name of a glyph, or an emoji. Null: the initial of its name.',
  })
  @Property({ type: 'text', nullable: true })
  icon?: string | null;

  @Field(() => String, { nullable: true, description: 'Instructions for the model; null for none.' })
  @Property({ type: 'text', nullable: true })
  instructions?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Id of the chat model that it uses. Null: the first one that an AI provider has.',
  })
  @Property({ type: 'text', nullable: true })
  model?: string | null;

  @Field(() => [ID], { description: 'Ids of the toolkits with tools that its agents call.' })
  @Property({ type: 'json' })
  toolkitIds: string[] = [];

  @Field(() => [ID], { description: 'Ids of the datasets whose rows its agents read.' })
  @Property({ type: 'json' })
  datasetIds: string[] = [];

  @Field(() => [AppEvent], {
    description: 'Events of apps. Its agents that have no events of their own run when one is raised.',
  })
  @Property({ type: 'json' })
  events: AppEvent[] = [];

  @MonthlyBudget()
  monthlyBudget?: number | null;

  /** Id of the file of the uploaded icon. Its creation time is when the icon was uploaded. */
  @Property({ type: 'uuid', nullable: true })
  uploadedIconId?: string | null;

  /** Id of the file of the favicon that was drawn from the uploaded icon. */
  @Property({ type: 'uuid', nullable: true })
  faviconId?: string | null;
}
