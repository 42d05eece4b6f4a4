import type { AggregateResult } from '../dataset-index.ts';
import type { VisualComponent } from './component.ts';
import type { VisualConfig } from './config.ts';

/** All that is drawn: whoever draws it looks nothing up. */
export interface Picture {
  component: VisualComponent;
  config: VisualConfig;
  title: string;
  data: AggregateResult;
  /** Pixels. */
  width: number;
  height: number;
}
