import type { AggregateResult } from '../dataset-index.ts';
import type { VisualComponent } from './component.ts';
import type { VisualConfig } from './config.ts';
import type { IncompletePeriods } from './incomplete-periods.ts';

/** Everything that a renderer needs to draw a visual. */
export interface Picture {
  component: VisualComponent;
  config: VisualConfig;
  title: string;
  data: AggregateResult;
  /** Of a chart over time. */
  incomplete?: IncompletePeriods;
  /** In pixels. */
  width: number;
  height: number;
}
