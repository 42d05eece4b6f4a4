import { isDeepStrictEqual } from 'node:util';
import type { ParameterDefinition } from '../../core/parameters.ts';

/** A definition as it is stored: every key is there, whatever the client left out. */
const stored = ({
  name,
  label,
  dataType,
  defaultValue,
  required,
  description,
}: ParameterDefinition): ParameterDefinition => ({
  name,
  label: label ?? null,
  dataType,
  defaultValue: defaultValue ?? null,
  required: required ?? false,
  description: description ?? null,
});

export const storedDefinitions = (definitions: readonly ParameterDefinition[]): ParameterDefinition[] =>
  definitions.map(stored);

/** Whether two lists define the same. An answer sent back has nulls where the first input had nothing. */
export const sameDefinitions = (one: readonly ParameterDefinition[], other: readonly ParameterDefinition[]): boolean =>
  isDeepStrictEqual(storedDefinitions(one), storedDefinitions(other));
