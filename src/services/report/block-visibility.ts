import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../core/criteria/value.ts';
import type { Field } from '../../core/fields.ts';
import { isUuid } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import { COMPONENTS } from '../../core/visual/component.ts';
import { visibleConfig } from '../../core/visual/visible-config.ts';
import { parseTermsOf, sortNames, type SortNames } from '../dataset/dataset-sort.ts';
import { criteriaProblem } from '../dataset/saved-filter-criteria.ts';
import type { ReportBlock } from './report-definition.ts';

type JsonObject = Record<string, unknown>;

/** Returns the value of a block's key without the names of fields that a reader cannot see. */
type VisiblePart = (value: unknown, fields: readonly Field[], block: JsonObject) => unknown;

/** The names of the fields that a reader sees. They are the same list for all blocks of a dataset. */
const NAMES = new WeakMap<readonly Field[], SortNames>();

function namesOf(fields: readonly Field[]): SortNames {
  let names = NAMES.get(fields);
  if (!names) NAMES.set(fields, (names = sortNames(fields.map(({ name }) => name))));
  return names;
}

const isNamed = (fields: readonly Field[], name: unknown): boolean => namesOf(fields).known.has(name as string);

/**
 * Keys that queries of blocks use (report-block.ts). All keys besides these and naming ones are texts and settings of
 * the authors.
 */
const PARTS: Record<string, VisiblePart> = {
  fields: (value, fields) => (Array.isArray(value) ? value.filter((name) => isNamed(fields, name)) : null),
  groupBy: (value, fields) =>
    Array.isArray(value) ? value.filter((group) => isObject(group) && isNamed(fields, group['field'])) : null,
  measures: (value, fields) =>
    Array.isArray(value)
      ? value.filter((measure) => isObject(measure) && (measure['field'] == null || isNamed(fields, measure['field'])))
      : null,
  sort: (value, fields, block) => (isVisibleSort(value, fields, block) ? value : null),
  filter: (value, fields) => (isVisibleFilter(value, fields) ? value : {}),
  config: (value, fields, { type }) => {
    const component = COMPONENTS.find(({ id }) => id === type)?.id;
    return component && isObject(value) ? visibleConfig(component, value, (name) => isNamed(fields, name)) : null;
  },
};

/** Other keys of blocks of any type, and of objects in them, that name a field or a list of fields. */
const NAMING_KEY = /^(?:field|column|x|y|sortBy)s?$|(?:Field|Column|Axis)s?$/;

/**
 * Returns the value of a naming key without the names of fields that a reader cannot see. Objects are separate parts.
 */
function visibleNames(value: unknown, fields: readonly Field[]): unknown {
  if (Array.isArray(value)) return value.filter((name) => typeof name !== 'string' || isNamed(fields, name));
  return typeof value === 'string' && !isNamed(fields, value) ? null : value;
}

/** Returns whether a key of a block has its own form of naming fields. */
export const namesFields = (key: string): boolean => Object.hasOwn(PARTS, key);

/** Returns a block without the names of fields that a reader cannot see: hidden ones, and ones that do not exist. */
export function visibleBlock<B extends JsonObject>(block: B, fields: readonly Field[]): B {
  const entries = Object.entries(block).map(([key, value]) => {
    if (namesFields(key) && value != null) return [key, PARTS[key]!(value, fields, block)];
    return [key, NAMING_KEY.test(key) ? visibleNames(value, fields) : value];
  });
  return Object.fromEntries(entries) as B;
}

/**
 * Returns the block to query a restricted reader's data with: hidden fields of a table are removed, as in visuals.
 * Throws BAD_USER_INPUT if another key names a field that the reader cannot see, without the name. Configs are checked
 * when they are run.
 */
export function queryableBlock(block: ReportBlock, fields: readonly Field[]): ReportBlock {
  const { config: _config, ...shown } = visibleBlock(block, fields);
  for (const [key, value] of Object.entries(shown)) {
    const noneLeft = key === 'fields' && (!Array.isArray(value) || value.length === 0);
    if ((key === 'fields' ? noneLeft : namesFields(key)) && !isDeepStrictEqual(value, block[key]))
      throw invalid(key, 'names an unknown field');
  }
  return { ...block, ...shown };
}

/** Groups are also sorted by the names of their measures. */
function isVisibleSort(value: unknown, fields: readonly Field[], { measures }: JsonObject): boolean {
  if (typeof value !== 'string') return false;
  const shown = Array.isArray(measures) ? (PARTS['measures']!(measures, fields, {}) as JsonObject[]) : [];
  const ofFields = namesOf(fields);
  const ofMeasures = sortNames(shown.map(({ as }) => String(as)));
  const names: SortNames = {
    known: { has: (name) => ofFields.known.has(name) || ofMeasures.known.has(name) },
    maxWords: Math.max(ofFields.maxWords, ofMeasures.maxWords),
  };
  try {
    return parseTermsOf(value, names).every(({ name }) => names.known.has(name));
  } catch {
    return false;
  }
}

/** A filter is criteria, or the id of a saved filter. */
const isVisibleFilter = (value: unknown, fields: readonly Field[]): boolean =>
  isObject(value)
    ? criteriaProblem(value, fields, true) === null
    : typeof value === 'string' && (value === '' || isUuid(value));
