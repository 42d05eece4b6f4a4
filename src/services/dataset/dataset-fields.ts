import type { Field } from '../../core/fields.ts';
import { invalid } from '../../core/input-checks.ts';

/** What people say about a field; the rest comes from the source. */
export interface FieldLabel {
  name: string;
  /** Null gives the name back. */
  label?: string | null;
  description?: string | null;
}

export interface FieldChanges {
  fieldsAdded: number;
  fieldsUpdated: number;
  fieldsRemoved: number;
}

const MAX_TEXT = 1000;

/** The fields with the labels and descriptions that the input names; fields it does not name stay. 400 for an unknown name. */
export function labelled(fields: readonly Field[], labels: readonly FieldLabel[]): Field[] {
  labels.forEach(({ name }, i) => {
    if (!fields.some((field) => field.name === name))
      throw invalid(`fields.${i}.name`, `${JSON.stringify(name)} is no field of the dataset`);
  });
  const byName = new Map(labels.map((label) => [label.name, label]));
  return fields.map((field) => withLabel(field, byName.get(field.name)));
}

function withLabel(field: Field, given: FieldLabel | undefined): Field {
  if (!given) return field;
  const { description: former, ...rest } = field;
  const description = given.description === undefined ? former : given.description?.trim();
  const label = given.label === undefined ? field.label : given.label?.trim() || field.name;
  if (label.length > MAX_TEXT || (description?.length ?? 0) > MAX_TEXT)
    throw invalid('fields', `holds a label or description of more than ${MAX_TEXT} characters`);
  return { ...rest, label, ...(description && { description }) };
}

/** The fields that a source has now, in its order, with the labels and descriptions that people gave, and the format where the type stayed. */
export function mergedFields(before: readonly Field[], now: readonly Pick<Field, 'name' | 'type'>[]): Field[] {
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

/** How many fields came, went, or changed their type. */
export function countedChanges(before: readonly Field[], after: readonly Field[]): FieldChanges {
  const known = new Map(before.map((field) => [field.name, field]));
  const kept = after.filter(({ name }) => known.has(name));
  return {
    fieldsAdded: after.length - kept.length,
    fieldsUpdated: kept.filter(({ name, type }) => known.get(name)!.type !== type).length,
    fieldsRemoved: before.length - kept.length,
  };
}
