import { badInput } from '../errors.ts';
import type { Field } from '../fields.ts';
import { Budget } from './budget.ts';
import { and, not, or } from './build.ts';
import { fieldConditions } from './operators.ts';
import type { CriteriaNode } from './tree.ts';
import { isObject, list, show } from './value.ts';

/**
 * Parses criteria (docs/contract.md#criteria) into a checked tree over `fields`. `{}` matches all rows. In the tree,
 * `not` is directly above leaves only, groups are flat, and comparisons of one field with several values are folded
 * into `in`. Pass only the fields that the caller may see: others are unknown.
 *
 * Throws BAD_USER_INPUT naming the unknown operator or field, the value that does not fit, or the exceeded limit.
 */
export function parseCriteria(input: unknown, fields: readonly Field[]): CriteriaNode {
  return parseNode(input, { fields: new Map(fields.map((field) => [field.name, field])), budget: new Budget() }, 1);
}

interface Scope {
  fields: ReadonlyMap<string, Field>;
  budget: Budget;
}

function parseNode(input: unknown, scope: Scope, depth: number): CriteriaNode {
  scope.budget.enter(depth);
  if (!isObject(input)) throw badInput(`Criteria must be an object of field conditions, not ${typeName(input)}`);
  return and(
    Object.entries(input).map(([key, value]) => {
      switch (key) {
        case '$and':
          return and(list(key, value).map((item) => parseNode(item, scope, depth + 1)));
        case '$or':
          return or(list(key, value).map((item) => parseNode(item, scope, depth + 1)));
        case '$not':
          return not(parseNode(value, scope, depth + 1));
        default:
          return fieldConditions(knownField(key, scope), value, scope.budget, depth);
      }
    }),
  );
}

function knownField(name: string, scope: Scope): Field {
  const field = scope.fields.get(name);
  if (field) return field;
  throw badInput(name.startsWith('$') ? `Unknown operator ${show(name)}` : `Unknown field ${show(name)}`);
}

/** Names the type of a JSON value that is not an object. */
const typeName = (input: unknown): string =>
  input === null ? 'null' : Array.isArray(input) ? 'a list' : `a ${typeof input}`;
