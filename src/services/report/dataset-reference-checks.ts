import type { ReferenceSnapshotsInput } from '../../../entities/dataset-reference-input.ts';
import type { Chip, ReferenceFilter, SnapshotSettings } from '../../../entities/dataset-reference.ts';
import type { Dataset } from '../../../entities/dataset.ts';
import { parseCriteria } from '../../core/criteria/parse.ts';
import { isObject, show } from '../../core/criteria/value.ts';
import { ApiError, badInput } from '../../core/errors.ts';
import type { Field } from '../../core/fields.ts';
import { at, checkText, invalid } from '../../core/input-checks.ts';
import { unknownName } from '../../core/unknown-name.ts';
import { referenceCriteria } from '../dataset/reference-criteria.ts';
import { checkJsonSize } from './report-definition.ts';

const MAX_NAME_CHARACTERS = 150;
const OPERATORS: ReadonlySet<string> = new Set(['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'regex', 'exists']);

/** Returns a valid alias. Throws BAD_USER_INPUT otherwise. */
export function checkAlias(alias: string | null | undefined): string {
  if (!alias) throw invalid('alias', alias === '' ? 'must not be empty' : 'is required');
  if (alias.length > MAX_NAME_CHARACTERS) throw invalid('alias', `must have at most ${MAX_NAME_CHARACTERS} characters`);
  if (!/^[a-zA-Z0-9_][a-zA-Z0-9_-]*$/.test(alias)) throw invalid('alias', 'must match ^[a-zA-Z0-9_][a-zA-Z0-9_-]*$');
  return alias;
}

/** Throws BAD_USER_INPUT for a draft or snapshot, which is deleted with its dataset. `path` is the key that names it. */
export function checkReferable({ parentId }: Pick<Dataset, 'parentId'>, path = 'datasetId'): void {
  if (parentId)
    throw invalid(path, 'must not be a draft or snapshot: use its dataset, and name a snapshot in `snapshots`');
}

export const checkLabel = (label: string | null | undefined, path = 'label'): string =>
  checkText(label, path, MAX_NAME_CHARACTERS);

/** Returns a valid filter over these fields. Throws BAD_USER_INPUT naming the invalid key, field, operator or value. */
export function checkReferenceFilter(input: object, fields: readonly Field[]): ReferenceFilter {
  checkJsonSize(input, 'filter');
  const { criteria = [], ...others } = input as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid('filter', `has the unknown key ${show(unknown)}`);
  if (!Array.isArray(criteria)) throw invalid('filter.criteria', 'must be an array');
  for (const [index, condition] of criteria.entries()) checkCondition(condition, `filter.criteria.${index}`);
  const filter = input as ReferenceFilter;
  try {
    parseCriteria(referenceCriteria(filter), fields);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The path in the criteria is `$and`, the index of the condition, and keys that the condition does not have.
    const { path: [, index] = [], code = 'invalid' } = error.validation?.[0] ?? {};
    const path = ['filter', 'criteria', ...(index === undefined ? [] : [index])];
    throw badInput(error.message, { validation: [{ path, message: error.message, code }] });
  }
  return filter;
}

function checkCondition(condition: unknown, path: string): void {
  if (!isObject(condition)) throw invalid(path, 'must be an object of field, op and value');
  const { field, op, value, ...others } = condition;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid(path, `has the unknown key ${show(unknown)}`);
  if (typeof field !== 'string' || field === '') throw invalid(`${path}.field`, 'must be the name of a field');
  // In criteria, a field with such a name could not be distinguished from an operator.
  if (field.startsWith('$')) throw badInput(`Unknown field ${show(field)}`);
  if (typeof op !== 'string' || !OPERATORS.has(op.replace(/^\$/, ''))) {
    throw invalid(`${path}.op`, `must be one of ${[...OPERATORS].join(', ')}`);
  }
  if (value === undefined) throw invalid(`${path}.value`, 'is required');
}

/** Returns valid chips over these fields. Throws BAD_USER_INPUT naming an unknown field. */
export function checkChips(chips: readonly Chip[], fields: readonly Field[]): Chip[] {
  const names = fields.map(({ name }) => name);
  const known = new Set(names);
  return chips.map(({ field, label }, index) => {
    at(['chips', index, 'field'], () => {
      if (!known.has(field)) throw unknownName('field', field, names);
    });
    return { field, label: checkLabel(label, `chips.${index}.label`) };
  });
}

/** Returns snapshot settings with defaults filled in, and the distinct ids of the chosen snapshots. */
export function checkSnapshots({ includeLatest, type, n, snapshotDatasets }: ReferenceSnapshotsInput): {
  settings: SnapshotSettings;
  ids: string[];
} {
  const ids = [...new Set(snapshotDatasets ?? [])];
  return { settings: { includeLatest: includeLatest ?? true, type: type ?? null, n: n ?? 1 }, ids };
}
