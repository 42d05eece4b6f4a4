import type { AggregateResult } from '../dataset-index.ts';
import type { VisualComponent } from './component.ts';
import type { VisualConfig } from './config.ts';

/** Everything that a renderer needs to draw a visual. */
export interface Picture {
  component: VisualComponent;
  config: VisualConfig;
  title: string;
  data: AggregateResult;
  /** In pixels. */
  width: number;
  height: number;
}
