import { ApiError, badInput } from '../errors.ts';
import type { Field } from '../fields.ts';
import { at } from '../input-checks.ts';
import { unknownName } from '../unknown-name.ts';
import { Budget } from './budget.ts';
import { and, not, or } from './build.ts';
import { fieldConditions } from './operators.ts';
import type { CriteriaNode } from './tree.ts';
import { isObject, list, show } from './value.ts';

/**
 * Parses criteria (docs/contract/datasets.md#criteria) into a checked tree over `fields`. `{}` matches all rows. In the
 * tree, `not` is directly above leaves only, groups are flat, and comparisons of one field with several values are
 * folded into `in`. Pass only the fields that the caller may see: others are unknown. A field of unknown type is passed
 * once for each type that it may have; its conditions are read with the first type that they fit.
 *
 * Throws BAD_USER_INPUT naming the unknown operator or field, the value that does not fit, or the exceeded limit, with its
 * path in the criteria.
 */
export function parseCriteria(input: unknown, fields: readonly Field[], hints = true): CriteriaNode {
  let candidates = CANDIDATES.get(fields);
  if (!candidates) CANDIDATES.set(fields, (candidates = Map.groupBy(fields, ({ name }) => name)));
  return parseNode(input, { candidates, budget: new Budget(), hints }, 1, 'Criteria');
}

/** The fields of a list by name: all blocks of a report are parsed with the same list. */
const CANDIDATES = new WeakMap<readonly Field[], ReadonlyMap<string, readonly Field[]>>();

const GROUP_OPERATORS = ['$and', '$or', '$not'];

interface Scope {
  candidates: ReadonlyMap<string, readonly Field[]>;
  budget: Budget;
  /** Whether the error for an unknown field names a similar one, which takes time for each field. */
  hints: boolean;
}

/** `place` names the input in errors. */
function parseNode(input: unknown, scope: Scope, depth: number, place: string): CriteriaNode {
  scope.budget.enter(depth);
  if (!isObject(input)) throw badInput(`${place} must be an object of field conditions, not ${typeName(input)}`);
  const items = (operator: string, value: unknown) =>
    list(operator, value).map((item, index) =>
      at([index], () => parseNode(item, scope, depth + 1, `Every item of ${operator}`)),
    );
  return and(
    Object.entries(input).map(([key, value]) =>
      at([key], () => {
        switch (key) {
          case '$and':
            return and(items(key, value));
          case '$or':
            return or(items(key, value));
          case '$not':
            return not(parseNode(value, scope, depth + 1, key));
          default:
            return conditionsOf(key, value, scope, depth);
        }
      }),
    ),
  );
}

function conditionsOf(name: string, input: unknown, scope: Scope, depth: number): CriteriaNode {
  const candidates = scope.candidates.get(name);
  if (!candidates)
    throw name.startsWith('$')
      ? unknownName('operator', name, GROUP_OPERATORS)
      : unknownName('field', name, scope.hints ? [...GROUP_OPERATORS, ...scope.candidates.keys()] : []);
  if (candidates.length === 1) return fieldConditions(candidates[0]!, input, scope.budget, depth);
  const messages = new Set<string>();
  for (const field of candidates) {
    const budget = scope.budget.copy();
    try {
      const node = fieldConditions(field, input, budget, depth);
      scope.budget = budget;
      return node;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      messages.add(error.message);
    }
  }
  throw badInput(
    messages.size === 1 ? [...messages][0]! : `The condition ${show(input)} on the field ${show(name)} fits no type`,
  );
}

/** Names the type of a JSON value that is not an object. */
const typeName = (input: unknown): string =>
  input === null ? 'null' : Array.isArray(input) ? 'a list' : `a ${typeof input}`;
