import type { ReportDefinition } from '../../../entities/report.ts';
import { isObject } from '../../core/criteria/value.ts';
import { invalid } from '../../core/input-checks.ts';
import { isDeeperThan } from '../../core/json-depth.ts';

/** Maximum size of a definition, of settings and of a filter as JSON. */
const MAX_JSON_BYTES = 1_000_000;
/** Limits the recursion of the functions that walk a definition. */
const MAX_DEPTH = 100;
const MAX_BLOCK_ID_CHARACTERS = 255;

/** Throws BAD_USER_INPUT if the value has more than 1 MB as JSON. */
export function checkJsonSize(value: object, path: string): void {
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_JSON_BYTES) throw invalid(path, 'must have at most 1 MB as JSON');
}

/**
 * Checks that every top-level block is an object with a unique id. Other keys of a block depend on its type and are
 * checked when its data is loaded.
 */
export function checkDefinition(definition: Record<string, unknown>): ReportDefinition {
  const { blocks } = definition;
  if (!Array.isArray(blocks)) throw invalid('definition.blocks', 'must be an array');
  if (isDeeperThan(definition, MAX_DEPTH)) throw invalid('definition', `must nest at most ${MAX_DEPTH} levels`);
  checkJsonSize(definition, 'definition');
  const ids = new Set<string>();
  for (const [index, block] of blocks.entries()) {
    const path = `definition.blocks.${index}`;
    if (!isObject(block)) throw invalid(path, 'must be an object');
    const { id } = block;
    if (typeof id !== 'string' || id === '' || id.length > MAX_BLOCK_ID_CHARACTERS) {
      throw invalid(`${path}.id`, `must be a string of 1 to ${MAX_BLOCK_ID_CHARACTERS} characters`);
    }
    if (ids.has(id)) throw invalid(`${path}.id`, `is used by another block: "${id}"`);
    ids.add(id);
  }
  return definition as ReportDefinition;
}

/** Key of a block that contains criteria. A key `dataset` in there is the name of a field, not an alias. */
const CRITERIA_KEY = 'filter';

/** Key of a block, or of an object in it, with a list of aliases. */
const ALIASES_KEY = 'datasets';

/** Returns the definition with a dataset's alias replaced in all blocks, including nested ones. */
export const renameAlias = (definition: ReportDefinition, from: string, to: string): ReportDefinition => ({
  ...definition,
  blocks: renameAliasIn(definition.blocks, from, to) as ReportDefinition['blocks'],
});

function renameAliasIn(value: unknown, from: string, to: string): unknown {
  if (Array.isArray(value)) return value.map((item) => renameAliasIn(item, from, to));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === CRITERIA_KEY ? inner : renameAliasAt(key, inner, from, to),
    ]),
  );
}

function renameAliasAt(key: string, value: unknown, from: string, to: string): unknown {
  if (key === 'dataset' && value === from) return to;
  const renamed = renameAliasIn(value, from, to);
  return key === ALIASES_KEY && Array.isArray(renamed) ? renamed.map((item) => (item === from ? to : item)) : renamed;
}

const REMOVED = Symbol('removed');

/**
 * Returns the definition without the blocks that use a dataset's alias. From a list inside a block, such as series or
 * `datasets`, only the items that use it are removed; a block whose `datasets` would be empty then is removed.
 */
export const removeAlias = (definition: ReportDefinition, alias: string): ReportDefinition => ({
  ...definition,
  blocks: removeAliasFrom(definition.blocks, alias) as ReportDefinition['blocks'],
});

function removeAliasFrom(value: unknown, alias: string): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => removeAliasFrom(item, alias)).filter((item) => item !== REMOVED);
  }
  if (!isObject(value)) return value;
  if (value['dataset'] === alias) return REMOVED;
  const entries = Object.entries(value).map(
    ([key, inner]) => [key, key === CRITERIA_KEY ? inner : removeAliasAt(key, inner, alias)] as const,
  );
  return entries.some(([, inner]) => inner === REMOVED) ? REMOVED : Object.fromEntries(entries);
}

function removeAliasAt(key: string, value: unknown, alias: string): unknown {
  if (key !== ALIASES_KEY || !Array.isArray(value) || !value.includes(alias)) return removeAliasFrom(value, alias);
  const others = value.filter((item) => item !== alias);
  return others.length > 0 ? removeAliasFrom(others, alias) : REMOVED;
}

/** A block whose data can be loaded. */
export interface ReportBlock extends Record<string, unknown> {
  id: string;
}

/**
 * Returns all blocks from top to bottom, each followed by the blocks nested in it. A nested block is an object with
 * `id` and `type` in any list.
 */
export const blocksOf = ({ blocks }: ReportDefinition): ReportBlock[] =>
  blocks.flatMap((block) => [block, ...nestedBlocks(block)]);

function nestedBlocks(value: unknown): ReportBlock[] {
  if (Array.isArray(value)) {
    return value.flatMap((item) => (isBlock(item) ? [item, ...nestedBlocks(item)] : nestedBlocks(item)));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === CRITERIA_KEY ? [] : nestedBlocks(inner)));
}

const isBlock = (value: unknown): value is ReportBlock =>
  isObject(value) && typeof value['id'] === 'string' && typeof value['type'] === 'string';
