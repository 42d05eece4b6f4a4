import type { FieldSync } from '../../../entities/dataset-field-sync.ts';
import type { Field } from '../../core/fields.ts';

/** Counts of changed fields. */
type FieldChanges = Pick<FieldSync, 'fieldsAdded' | 'fieldsUpdated' | 'fieldsRemoved'>;

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
