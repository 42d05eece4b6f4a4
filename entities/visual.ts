import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { VisualComponent } from '../src/core/visual/component.ts';
import type { VisualConfig } from '../src/core/visual/config.ts';
import { TenantRow } from './tenant-row.ts';

/** TypeGraphQL wants an object: the keys are GraphQL's words, the values those of the specification. */
export const VisualComponentEnum = {
  BAR_CHART: 'bar-chart',
  LINE_CHART: 'line-chart',
  PIE_CHART: 'pie-chart',
  TABLE: 'table',
  SCATTER_PLOT: 'scatter-plot',
  HEATMAP: 'heatmap',
  GAUGE: 'gauge',
  CARD: 'card',
} as const satisfies Record<string, VisualComponent>;
registerEnumType(VisualComponentEnum, {
  name: 'VisualComponent',
  description: 'What a visual is drawn as.',
  valuesConfig: {
    BAR_CHART: { description: 'A bar for each value of a field.' },
    LINE_CHART: { description: 'A line over time or another field.' },
    PIE_CHART: { description: 'A slice for each value of a field.' },
    TABLE: { description: 'The rows themselves.' },
    SCATTER_PLOT: { description: 'A point for each row.' },
    HEATMAP: { description: 'A coloured cell for each pair of values of two fields.' },
    GAUGE: { description: 'One number on a scale.' },
    CARD: { description: 'One number.' },
  },
});

/** A chart or table of a dataset (specification, "Visual"). */
@ObjectType({ description: 'A chart or table of a dataset. Its numbers are those that the caller may see.' })
@Entity()
export class Visual extends TenantRow {
  @Field(() => String, { description: 'Display name.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'What it shows, in the words of its people.' })
  @Property({ type: 'text', nullable: true })
  description?: string | null;

  @Field(() => VisualComponentEnum, { description: 'What it is drawn as; it stays that for good.' })
  @Enum({ items: () => Object.values(VisualComponentEnum), type: 'text' })
  component!: VisualComponent;

  @Field(() => ID, { description: 'The dataset it shows.' })
  @Property({ type: 'uuid' })
  datasetId!: string;

  @Field(() => ID, { nullable: true, description: 'Id of the user who made it; null when they are gone.' })
  @Property({ type: 'uuid', nullable: true })
  ownerId?: string | null;

  /** What it shows and how: keys of the component's JSON Schema. It may name fields that are hidden from the viewer. */
  @Property({ type: 'json' })
  config: VisualConfig = {};

  @Field(() => Boolean, { description: 'Whether it is embedded in a dashboard.' })
  @Property({ type: 'boolean' })
  embedded: boolean = false;

  @Field(() => Boolean, { description: 'Whether lists show it first.' })
  @Property({ type: 'boolean' })
  pinned: boolean = false;

  @Field(() => Int, { description: 'Its place among the visuals of the dataset, from 0 without gaps.' })
  @Property({ type: 'integer' })
  position!: number;
}
