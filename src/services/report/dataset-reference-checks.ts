import type { Chip, ReferenceFilter, SnapshotSettings } from '../../../entities/dataset-reference.ts';
import { parseCriteria } from '../../core/criteria/parse.ts';
import { isObject, show } from '../../core/criteria/value.ts';
import { badInput } from '../../core/errors.ts';
import type { Field } from '../../core/fields.ts';
import { checkText, invalid } from '../../core/input-checks.ts';
import { checkSize } from './report-definition.ts';

const MAX_NAME_CHARACTERS = 150;
const MAX_CHIPS = 100;
export const MAX_SNAPSHOTS = 50;
const OPERATORS: ReadonlySet<string> = new Set(['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'regex', 'exists']);

/** Snapshot settings as clients give them: what is absent has its default. */
export interface SnapshotsInput extends Partial<SnapshotSettings> {
  snapshotDatasets?: string[] | null;
}

/** The name that blocks call a dataset by. */
export function checkedAlias(alias: string | null | undefined): string {
  if (!alias) throw invalid('alias', 'is required');
  if (alias.length > MAX_NAME_CHARACTERS) throw invalid('alias', `must have at most ${MAX_NAME_CHARACTERS} characters`);
  if (!/^[a-zA-Z0-9_][a-zA-Z0-9_-]*$/.test(alias)) throw invalid('alias', 'must match ^[a-zA-Z0-9_][a-zA-Z0-9_-]*$');
  return alias;
}

export const checkedLabel = (label: string | null | undefined, path = 'label'): string =>
  checkText(label, path, MAX_NAME_CHARACTERS);

/** A filter over these fields, as it is kept. 400 naming what is unknown or does not fit. */
export function checkedFilter(given: object, fields: readonly Field[]): ReferenceFilter {
  checkSize(given, 'filter');
  const { criteria = [], ...others } = given as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid('filter', `has the unknown key ${show(unknown)}`);
  if (!Array.isArray(criteria)) throw invalid('filter.criteria', 'must be an array');
  for (const [index, condition] of criteria.entries()) checkCondition(condition, `filter.criteria.${index}`);
  const filter = given as ReferenceFilter;
  parseCriteria(criteriaOf(filter), fields);
  return filter;
}

function checkCondition(condition: unknown, path: string): void {
  if (!isObject(condition)) throw invalid(path, 'must be an object of field, op and value');
  const { field, op, value, ...others } = condition;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid(path, `has the unknown key ${show(unknown)}`);
  if (typeof field !== 'string' || field === '') throw invalid(`${path}.field`, 'must be the name of a field');
  // A field so called cannot be told from an operator of criteria.
  if (field.startsWith('$')) throw badInput(`Unknown field ${show(field)}`);
  if (typeof op !== 'string' || !OPERATORS.has(op.replace(/^\$/, '')))
    throw invalid(`${path}.op`, `must be one of ${[...OPERATORS].join(', ')}`);
  if (value === undefined) throw invalid(`${path}.value`, 'is required');
}

/** The same as criteria of the dataset; `{}` for all rows. */
export const criteriaOf = ({ criteria = [] }: ReferenceFilter): Record<string, unknown> =>
  criteria.length === 0
    ? {}
    : { $and: criteria.map(({ field, op, value }) => ({ [field]: { [`$${op.replace(/^\$/, '')}`]: value } })) };

/** Chips over these fields. 400 naming the field that there is not. */
export function checkedChips(given: readonly unknown[], fields: readonly Field[]): Chip[] {
  if (given.length > MAX_CHIPS) throw invalid('chips', `must have at most ${MAX_CHIPS} items`);
  const known = new Set(fields.map(({ name }) => name));
  return given.map((chip, index) => {
    const { field, label } = chip as Chip;
    if (!known.has(field)) throw badInput(`Unknown field ${show(field)}`);
    return { field, label: checkedLabel(label, `chips.${index}.label`) };
  });
}

/** Snapshot settings with their defaults, and the ids of the snapshots that are wanted, each once. */
export function checkedSnapshots({ includeLatest, type, n, snapshotDatasets }: SnapshotsInput): {
  settings: SnapshotSettings;
  ids: string[];
} {
  const latest = n ?? 1;
  if (!Number.isInteger(latest) || latest < 1 || latest > MAX_SNAPSHOTS)
    throw invalid('snapshots.n', `must be a whole number from 1 to ${MAX_SNAPSHOTS}`);
  const ids = [...new Set(snapshotDatasets ?? [])];
  if (ids.length > MAX_SNAPSHOTS)
    throw invalid('snapshots.snapshotDatasets', `must have at most ${MAX_SNAPSHOTS} items`);
  return { settings: { includeLatest: includeLatest ?? true, type: type ?? null, n: latest }, ids };
}
