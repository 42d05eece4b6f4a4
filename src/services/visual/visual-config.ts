import { Ajv } from 'ajv';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/input-checks.ts';
import { isRestricted } from '../../core/permissions.ts';
import { componentOf, visibleConfig, type IsVisible, type VisualComponent } from '../../core/visual/component.ts';
import type { VisualConfig } from '../../core/visual/config.ts';
import { visibleFields, type ViewedDataset } from '../dataset/dataset-view.ts';
import { accessLevel } from '../resource/access-level.ts';
import { schemaError } from '../resource/schema-validation.ts';

// `field` tells front-ends what to offer; whether there is such a field is asked with the data, for a dataset may have no rows yet.
const ajv = new Ajv({ allErrors: true, formats: { field: true } });

/** A visual's config as it is kept. 400 naming the key that its component does not know, or that holds something else. */
export function checkedConfig(component: VisualComponent, config: Record<string, unknown>): VisualConfig {
  const valid = ajv.compile<VisualConfig>(componentOf(component).schema);
  if (!valid(config)) throw schemaError(valid.errors!, 'config');
  const { min, max } = config;
  if (typeof min === 'number' && typeof max === 'number' && min >= max)
    throw invalid('config.max', 'must be greater than config.min');
  return config;
}

/** Which fields of a dataset exist for the viewer, who sees a part of it; null when they see the whole (contract 3). */
export async function fieldsSeen(ctx: Context, dataset: ViewedDataset): Promise<IsVisible | null> {
  if (!isRestricted(await accessLevel(ctx, dataset))) return null;
  const visible = new Set((await visibleFields(ctx, dataset)).map(({ name }) => name));
  return (field) => visible.has(field);
}

/** A config as the viewer sees it: names of fields that are hidden from them are empty. */
export async function shownConfig(
  ctx: Context,
  dataset: ViewedDataset,
  component: VisualComponent,
  config: VisualConfig,
): Promise<VisualConfig> {
  const isVisible = await fieldsSeen(ctx, dataset);
  return isVisible ? visibleConfig(component, config, isVisible) : config;
}
