import { isoDate, isoDatetime } from './dates.ts';
import { badInput } from './errors.ts';
import { parseTemplate } from './template.ts';
import type { SqlDialect } from './template.ts';

export { parseTemplate };
export type { SqlDialect, TemplatePiece } from './template.ts';

/** The value of a query parameter after typing; null is a known absence. Dates are ISO strings in UTC. */
export type ParameterValue = string | number | boolean | null;

/** Definition of a query parameter (specification, "Query parameter definition"). */
export interface ParameterDefinition {
  name: string;
  label?: string | null;
  dataType: 'string' | 'number' | 'date' | 'boolean';
  defaultValue?: ParameterValue;
  required?: boolean;
  description?: string | null;
}

/** A parameter with the value that a run uses. */
export interface BoundParameter {
  name: string;
  dataType: ParameterDefinition['dataType'];
  value: ParameterValue;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/;
const DATA_TYPES: readonly string[] = ['string', 'number', 'date', 'boolean'];
const MAX_DEFINITIONS = 100;

/**
 * Checks a query and its parameters before they are saved.
 * @throws badInput naming the placeholder without a definition, the bad or repeated name, the unknown type or the default that does not fit; and all that `parseTemplate` refuses.
 */
export function checkParameters(sql: string, definitions: readonly ParameterDefinition[], dialect?: SqlDialect): void {
  if (definitions.length > MAX_DEFINITIONS) throw badInput(`A query has at most ${MAX_DEFINITIONS} parameters`);
  const defined = new Set<string>();
  for (const definition of definitions) {
    const name = JSON.stringify(definition.name);
    if (!NAME.test(definition.name))
      throw badInput(
        `${name} is no name for a parameter: it takes letters, digits, _ and -, not beginning with a digit`,
      );
    if (defined.has(definition.name)) throw badInput(`The parameter ${name} is defined twice`);
    if (!DATA_TYPES.includes(definition.dataType))
      throw badInput(`The parameter ${name} has the unknown type ${JSON.stringify(definition.dataType)}`);
    typedValue(definition, definition.defaultValue ?? null);
    defined.add(definition.name);
  }
  for (const piece of parseTemplate(sql, dialect)) {
    if (typeof piece === 'object' && !defined.has(piece.name))
      throw badInput(`The placeholder {{${piece.name}}} has no parameter definition`);
  }
}

/**
 * The value of every parameter for one run: the override, else the default. An override of null is a known absence, not the default.
 * @throws badInput naming the required parameter that has no value, the override that is unknown, or the one of another type.
 */
export function bindParameters(
  definitions: readonly ParameterDefinition[],
  overrides: Readonly<Record<string, unknown>> = {},
): BoundParameter[] {
  const unknown = Object.keys(overrides).find((name) => !definitions.some((definition) => definition.name === name));
  if (unknown !== undefined) throw badInput(`Unknown parameter ${JSON.stringify(unknown.slice(0, 100))}`);
  return definitions.map((definition) => {
    const override = Object.hasOwn(overrides, definition.name) ? overrides[definition.name] : undefined;
    const value = typedValue(definition, override === undefined ? (definition.defaultValue ?? null) : override);
    if (value === null && definition.required)
      throw badInput(`The parameter ${JSON.stringify(definition.name)} is required`);
    return { name: definition.name, dataType: definition.dataType, value };
  });
}

/** The value in the form that sources are given: a date as `YYYY-MM-DD`, a date with a time as its UTC moment. */
function typedValue({ name, dataType }: ParameterDefinition, value: unknown): ParameterValue {
  if (value === null) return null;
  const typed = readers[dataType](value);
  if (typed === undefined)
    throw badInput(
      `The parameter ${JSON.stringify(name)} takes a ${dataType}${dataType === 'date' ? ' in ISO form' : ''}`,
    );
  return typed;
}

const readers: Record<ParameterDefinition['dataType'], (value: unknown) => ParameterValue | undefined> = {
  // No source takes a NUL or half a surrogate pair in a text.
  string: (value) => (typeof value === 'string' && value.isWellFormed() && !value.includes('\0') ? value : undefined),
  number: (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined),
  boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  date: (value) => (typeof value === 'string' ? (isoDate(value) ?? isoDatetime(value)) : undefined),
};
