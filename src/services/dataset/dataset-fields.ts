import type { FieldSync } from '../../../entities/dataset-field-sync.ts';
import type { FieldLabelInput } from '../../../entities/dataset-input.ts';
import type { Field } from '../../core/fields.ts';
import { invalid } from '../../core/input-checks.ts';

/** Counts of changed fields. */
type FieldChanges = Pick<FieldSync, 'fieldsAdded' | 'fieldsUpdated' | 'fieldsRemoved'>;

/** Returns the fields with labels and descriptions from the input. Throws 400 for an unknown field and a long text. */
export function applyLabels(fields: readonly Field[], labels: readonly FieldLabelInput[]): Field[] {
  labels.forEach(({ name }, i) => {
    if (!fields.some((field) => field.name === name))
      throw invalid(`fields.${i}.name`, `is not a field of the dataset: ${JSON.stringify(name)}`);
  });
  const byName = new Map(labels.map((label) => [label.name, label]));
  return fields.map((field) => applyLabel(field, byName.get(field.name)));
}

function applyLabel(field: Field, input: FieldLabelInput | undefined): Field {
  if (!input) return field;
  const { description: former, ...rest } = field;
  const description = input.description === undefined ? former : input.description?.trim();
  const label = input.label === undefined ? field.label : input.label?.trim() || field.name;
  return { ...rest, label, ...(description && { description }) };
}

/**
 * Returns the current fields of a source, in its order, with the labels and descriptions of the former fields, and the
 * format of those whose type did not change.
 */
export function mergeFields(before: readonly Field[], now: readonly Pick<Field, 'name' | 'type'>[]): Field[] {
  const known = new Map(before.map((field) => [field.name, field]));
  return now.map(({ name, type }) => {
    const former = known.get(name);
    return {
      name,
      type,
      label: former?.label ?? name,
      ...(former?.type === type && former.format && { format: former.format }),
      ...(former?.description && { description: former.description }),
    };
  });
}

/** Counts the fields that were added, removed, or changed their type. */
export function countFieldChanges(before: readonly Field[], after: readonly Field[]): FieldChanges {
  const known = new Map(before.map((field) => [field.name, field]));
  const remaining = after.filter(({ name }) => known.has(name));
  return {
    fieldsAdded: after.length - remaining.length,
    fieldsUpdated: remaining.filter(({ name, type }) => known.get(name)!.type !== type).length,
    fieldsRemoved: before.length - remaining.length,
  };
}
