import { componentOf, type ConfigKey, type ConfigSchema, type VisualComponent } from './component.ts';
import type { VisualConfig } from './config.ts';

/** Whether the viewer may see a field of the dataset. */
export type IsVisible = (field: string) => boolean;

const isField = (schema: ConfigSchema | undefined): boolean => schema?.['format'] === 'field';

/** Returns the config keys whose value is one field name, and the keys whose value is a list of field names. */
function fieldKeysOf(id: VisualComponent): { one: ConfigKey[]; several: ConfigKey[] } {
  const entries = Object.entries(componentOf(id).schema.properties) as [ConfigKey, ConfigSchema][];
  return {
    one: entries.filter(([, schema]) => isField(schema)).map(([key]) => key),
    several: entries.filter(([, schema]) => isField(schema['items'] as ConfigSchema | undefined)).map(([key]) => key),
  };
}

/** Returns the first key whose value is a field that the viewer may not see. Lists of fields are not checked. */
export const findHiddenKey = (id: VisualComponent, config: VisualConfig, isVisible: IsVisible): ConfigKey | undefined =>
  fieldKeysOf(id).one.find((key) => typeof config[key] === 'string' && !isVisible(config[key]));

/** Returns a config without hidden fields: they become null, and are removed from lists. */
export function visibleConfig(id: VisualComponent, config: VisualConfig, isVisible: IsVisible): VisualConfig {
  const shown: Record<string, unknown> = { ...config };
  const { one, several } = fieldKeysOf(id);
  for (const key of one) if (typeof shown[key] === 'string' && !isVisible(shown[key])) shown[key] = null;
  for (const key of several) if (Array.isArray(shown[key])) shown[key] = (shown[key] as string[]).filter(isVisible);
  return shown;
}

/** Restores the hidden fields of the former config in a new one, except where the viewer set another value. */
export function restoreHiddenFields(
  id: VisualComponent,
  former: VisualConfig,
  sent: Readonly<Record<string, unknown>>,
  isVisible: IsVisible,
): Record<string, unknown> {
  const restored: Record<string, unknown> = { ...sent };
  const { one, several } = fieldKeysOf(id);
  for (const key of one)
    if (typeof former[key] === 'string' && !isVisible(former[key]) && restored[key] == null)
      restored[key] = former[key];
  for (const key of several) {
    const hidden = ((former[key] ?? []) as string[]).filter((name) => !isVisible(name));
    const now = restored[key] ?? [];
    if (hidden.length > 0 && Array.isArray(now))
      restored[key] = [...now, ...hidden.filter((name) => !now.includes(name))];
  }
  return restored;
}
