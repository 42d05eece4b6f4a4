import type { Field } from '../../../core/fields.ts';
import { DEFAULT_TYPE } from './staging-types.ts';
import type { LoadedField } from './staging-types.ts';

/**
 * Returns the fields of the generation: all of `fields`, or with `syncFields=false` exactly the fields of `kept`, in
 * their order. `vanished` creates an empty field for one that the source no longer has.
 */
export function keepFields<F extends LoadedField>(
  fields: F[],
  kept: Field[] | undefined,
  vanished: (field: LoadedField) => F,
): F[] {
  if (!kept) return fields;
  const present = new Map(fields.map((field) => [field.name, field]));
  return kept.map(
    ({ name, type }, i) =>
      present.get(name) ??
      vanished({ name, type, column: `c${fields.length + i}`, sqlType: DEFAULT_TYPE[type], vanished: true }),
  );
}
