import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { VisualComponent } from '../src/core/visual/component.ts';
import type { VisualConfig } from '../src/core/visual/config.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** Keys are the names in GraphQL, values are the stored ids. */
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
  description: 'Chart type of a visual.',
  valuesConfig: {
    BAR_CHART: { description: 'One bar per value of a field.' },
    LINE_CHART: { description: 'A line over time or over another field.' },
    PIE_CHART: { description: 'One slice per value of a field.' },
    TABLE: { description: 'Rows in columns.' },
    SCATTER_PLOT: { description: 'One point per row.' },
    HEATMAP: { description: 'One coloured cell per pair of values of two fields.' },
    GAUGE: { description: 'One number on a scale.' },
    CARD: { description: 'One number.' },
  },
});

/** See docs/contract/datasets.md#visuals. */
@ObjectType({
  description: 'A chart or table of a dataset. Its data contains only rows and fields that the caller may see.',
  implements: Node,
})
@Entity()
export class Visual extends TenantRow {
  @Field(() => String, { description: 'Display name.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Description.' })
  @Property({ type: 'text', nullable: true })
  description?: string | null;

  @Field(() => VisualComponentEnum, { description: 'Chart type. It cannot be changed.' })
  @Enum({ items: () => Object.values(VisualComponentEnum), type: 'text' })
  component!: VisualComponent;

  @Field(() => ID, { description: 'Id of the dataset.' })
  @Property({ type: 'uuid' })
  datasetId!: string;

  @Field(() => ID, {
    nullable: true,
    description: 'Id of the user who created it. Null when that user has been deleted.',
  })
  @Property({ type: 'uuid', nullable: true })
  ownerId?: string | null;

  /** Keys of the component's JSON Schema. It may contain names of fields that are hidden from the viewer. */
  @Property({ type: 'json' })
  config: VisualConfig = {};

  @Field(() => Boolean, { description: 'Whether the visual is embedded in a dashboard.' })
  @Property({ type: 'boolean' })
  embedded: boolean = false;

  @Field(() => Boolean, { description: 'Whether lists show the visual first, before visuals that are not pinned.' })
  @Property({ type: 'boolean' })
  pinned: boolean = false;

  @Field(() => Int, { description: 'Position among the visuals of the dataset, from 0 without gaps.' })
  @Property({ type: 'integer' })
  position!: number;
}
