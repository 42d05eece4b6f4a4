import { Ajv } from 'ajv';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/input-checks.ts';
import { isRestricted } from '../../core/permissions.ts';
import { componentOf, type VisualComponent } from '../../core/visual/component.ts';
import type { VisualConfig } from '../../core/visual/config.ts';
import { visibleConfig, type IsVisible } from '../../core/visual/visible-config.ts';
import { visibleFields, type ViewedDataset } from '../dataset/dataset-view.ts';
import { accessLevel } from '../resource/access-level.ts';
import { schemaError } from '../resource/schema-validation.ts';

// The format `field` is not checked: a dataset may have no fields yet. Unknown fields fail the query of the data.
const ajv = new Ajv({ allErrors: true, formats: { field: true } });

/** Checks a config against the JSON Schema of its component. Throws BAD_USER_INPUT naming the invalid key. */
export function checkConfig(component: VisualComponent, config: Record<string, unknown>): VisualConfig {
  const valid = ajv.compile<VisualConfig>(componentOf(component).schema);
  if (!valid(config)) throw schemaError(valid.errors!, 'config');
  const { min, max } = config;
  if (typeof min === 'number' && typeof max === 'number' && min >= max)
    throw invalid('config.max', 'must be greater than config.min');
  return config;
}

/**
 * Returns whether a field is visible to a restricted viewer, as a function. Returns null when all fields are visible
 * (docs/contract/access.md#restricted-shares).
 */
export async function fieldVisibility(ctx: Context, dataset: ViewedDataset): Promise<IsVisible | null> {
  if (!isRestricted(await accessLevel(ctx, dataset))) return null;
  const visible = new Set((await visibleFields(ctx, dataset)).map(({ name }) => name));
  return (field) => visible.has(field);
}

/** Returns a config without the names of fields that are hidden from the viewer. */
export async function configForViewer(
  ctx: Context,
  dataset: ViewedDataset,
  component: VisualComponent,
  config: VisualConfig,
): Promise<VisualConfig> {
  const isVisible = await fieldVisibility(ctx, dataset);
  return isVisible ? visibleConfig(component, config, isVisible) : config;
}
