import type { ReportDefinition } from '../../../entities/report.ts';
import { isObject } from '../../core/criteria/value.ts';
import { invalid } from '../../core/input-checks.ts';

/** Bytes that a definition or settings may have as JSON. */
const LARGEST = 1_000_000;
/** Nobody nests blocks as deep, and what walks them calls itself. */
const MAX_DEPTH = 100;

/** 400 for JSON that is too long. */
export function checkSize(value: object, path: string): void {
  if (Buffer.byteLength(JSON.stringify(value)) > LARGEST) throw invalid(path, 'must have at most 1 MB as JSON');
}

/** Every block is an object with an id of its own; what else it says is its type's. */
export function checkedDefinition(definition: Record<string, unknown>): ReportDefinition {
  const { blocks } = definition;
  if (!Array.isArray(blocks)) throw invalid('definition.blocks', 'must be an array');
  if (isDeeper(definition, MAX_DEPTH)) throw invalid('definition', `must nest at most ${MAX_DEPTH} levels`);
  checkSize(definition, 'definition');
  const ids = new Set<string>();
  for (const [index, block] of blocks.entries()) {
    const path = `definition.blocks.${index}`;
    if (!isObject(block)) throw invalid(path, 'must be an object');
    const { id } = block;
    if (typeof id !== 'string' || id === '' || id.length > 255)
      throw invalid(`${path}.id`, 'must be a text of 1 to 255 characters');
    if (ids.has(id)) throw invalid(`${path}.id`, `is that of another block: "${id}"`);
    ids.add(id);
  }
  return definition as ReportDefinition;
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

/** Of a block, criteria: there `dataset` may be the name of a field. */
const CRITERIA = 'filter';

/** The definition with every use of a dataset’s alias changed, in blocks within blocks too. */
export const renamed = (definition: ReportDefinition, from: string, to: string): ReportDefinition => ({
  ...definition,
  blocks: renamedIn(definition.blocks, from, to) as ReportDefinition['blocks'],
});

function renamedIn(value: unknown, from: string, to: string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamedIn(item, from, to));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === CRITERIA ? inner : key === 'dataset' && inner === from ? to : renamedIn(inner, from, to),
    ]),
  );
}

const GONE = Symbol('gone');

/** The definition without the blocks that use a dataset’s alias. Of a list within a block, such as series, the items that use it go, and not the block. */
export const without = (definition: ReportDefinition, alias: string): ReportDefinition => ({
  ...definition,
  blocks: remaining(definition.blocks, alias) as ReportDefinition['blocks'],
});

function remaining(value: unknown, alias: string): unknown {
  if (Array.isArray(value)) return value.map((item) => remaining(item, alias)).filter((item) => item !== GONE);
  if (!isObject(value)) return value;
  if (value['dataset'] === alias) return GONE;
  const entries = Object.entries(value).map(
    ([key, inner]) => [key, key === CRITERIA ? inner : remaining(inner, alias)] as const,
  );
  return entries.some(([, inner]) => inner === GONE) ? GONE : Object.fromEntries(entries);
}

/** A block that can be asked for. */
export interface Block extends Record<string, unknown> {
  id: string;
}

/** The blocks from top to bottom, with those within them behind each: in whatever list, an object with `id` and `type` is one. */
export const blocksOf = ({ blocks }: ReportDefinition): Block[] => blocks.flatMap((block) => [block, ...within(block)]);

function within(value: unknown): Block[] {
  if (Array.isArray(value)) return value.flatMap((item) => (isBlock(item) ? [item, ...within(item)] : within(item)));
  return isObject(value)
    ? Object.entries(value).flatMap(([key, inner]) => (key === CRITERIA ? [] : within(inner)))
    : [];
}

const isBlock = (value: unknown): value is Block =>
  isObject(value) && typeof value['id'] === 'string' && typeof value['type'] === 'string';
