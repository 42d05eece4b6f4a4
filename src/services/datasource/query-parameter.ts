import { isDeepStrictEqual } from 'node:util';
import type { ParameterDefinition } from '../../core/parameters.ts';

/** Returns a definition in its stored form, with every key present. */
const storedDefinition = ({
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

/** Returns definitions in their stored form, with every key present. */
export const storedDefinitions = (definitions: readonly ParameterDefinition[]): ParameterDefinition[] =>
  definitions.map(storedDefinition);

/** Returns whether two lists define the same parameters. An absent key equals its default. */
export const sameDefinitions = (one: readonly ParameterDefinition[], other: readonly ParameterDefinition[]): boolean =>
  isDeepStrictEqual(storedDefinitions(one), storedDefinitions(other));
