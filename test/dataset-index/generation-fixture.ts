import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { csvSegments } from '../../src/adapters/drivers/csv-encoder.ts';
import { ALL } from '../../src/core/criteria/tree.ts';
import type {
  Aggregation,
  DatasetIndex,
  Generation,
  LoadPlan,
  Page,
  Row,
  RowSearch,
  Search,
} from '../../src/core/dataset-index.ts';
import type { Column, Field, Storage } from '../../src/core/fields.ts';
import { newId } from '../../src/core/id.ts';

export const NEVER = new AbortController().signal;

export const createLoadPlan = (more: Partial<LoadPlan> = {}): LoadPlan => ({
  flow: [],
  maxRows: 0,
  progress: () => {},
  signal: NEVER,
  ...more,
});

/** Returns the default storage of a source column for a field's type. */
function storageOf({ type, format }: Field): Storage {
  switch (type) {
    case 'integer':
      return { kind: 'int64' };
    case 'number':
      return format === 'decimal' ? { kind: 'decimal' } : { kind: 'float64' };
    case 'boolean':
      return { kind: 'boolean' };
    case 'date':
      return { kind: 'date' };
    case 'datetime':
      return { kind: 'timestamp' };
    case 'json':
      return { kind: 'json' };
    default:
      return { kind: 'text' };
  }
}

export const createColumn = (name: string, type: Column['type'], storage?: Storage): Column => ({
  name,
  type,
  storage: storage ?? storageOf({ name, label: name, type }),
  sourceType: type,
});

const columnsOf = (fields: readonly Field[]): Column[] =>
  fields.map((field) => ({
    name: field.name,
    type: field.type === 'text' ? 'string' : field.type,
    storage: storageOf(field),
    sourceType: field.type,
  }));

/** Loads rows of texts as a source sends them, from segments in a folder that is deleted afterwards. */
export async function loadTexts(
  index: DatasetIndex,
  columns: Column[],
  rows: readonly (readonly (string | null)[])[],
  more: Partial<LoadPlan> = {},
): Promise<Generation> {
  const dir = await mkdtemp(join(tmpdir(), 'dws-segments-'));
  try {
    return await index.load(
      newId(),
      columns,
      csvSegments(
        (async function* () {
          yield rows;
        })(),
        dir,
      ),
      createLoadPlan(more),
    );
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const textOf = (value: unknown, { type }: Field): string | null => {
  if (value === null || value === undefined) return null;
  if (type === 'json') return JSON.stringify(value);
  return typeof value === 'number' && type === 'number' ? printDouble(value) : String(value);
};

/** Prints a double, a negative zero as 0. */
const printDouble = (value: number) => (Object.is(value, -0) ? '0' : String(value));

/** Loads rows in their JSON forms. */
export const loadRows = (
  index: DatasetIndex,
  fields: readonly Field[],
  rows: readonly Row[],
  more: Partial<LoadPlan> = {},
): Promise<Generation> =>
  loadTexts(
    index,
    columnsOf(fields),
    rows.map((row) => fields.map((field) => textOf(row[field.name], field))),
    more,
  );

/** Returns a generation's fields as criteria require them. */
export const fieldsOf = (generation: Generation): Field[] =>
  generation.fields.map(({ column: _, ...field }) => ({ ...field, label: field.name }));

const wordFieldsOf = (generation: Generation) =>
  generation.fields.filter(({ type }) => type === 'string' || type === 'text').map(({ name }) => name);

/** A search that finds all rows of a generation. */
export const selectAllRows = (generation: Generation): Search => ({
  generation,
  caller: { tenantId: 'tenant', userId: 'user' },
  where: ALL,
  words: [],
  wordFields: wordFieldsOf(generation),
});

export const search = (index: DatasetIndex, generation: Generation, more: Partial<RowSearch> = {}): Promise<Page> =>
  index.search(
    {
      ...selectAllRows(generation),
      fields: generation.fields.map(({ name }) => name),
      sort: [],
      limit: 10_000,
      start: 0,
      total: false,
      ...more,
    },
    NEVER,
  );

export const aggregate = (index: DatasetIndex, generation: Generation, more: Partial<Aggregation>) =>
  index.aggregate({ ...selectAllRows(generation), groupBy: [], measures: [], sort: [], limit: 1000, ...more }, NEVER);

export async function collect<T>(batches: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const batch of batches) all.push(batch);
  return all;
}

/**
 * Compares two values in their JSON forms: strings by code points, numbers exactly, also as texts, missing values last
 * in both directions.
 */
export function compareValues(a: unknown, b: unknown, { type }: Pick<Field, 'type'>, descending = false): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const order =
    type === 'integer' || type === 'number'
      ? compareNumbers(a, b)
      : Buffer.compare(Buffer.from(prefix(a)), Buffer.from(prefix(b)));
  return descending ? -order : order;
}

/** Texts have at most 40 decimal places and no exponent. */
function compareNumbers(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [a, b].map((value) => {
    const [whole = '', fraction = ''] = String(value).split('.');
    return BigInt(whole + fraction.padEnd(40, '0'));
  }) as [bigint, bigint];
  return left < right ? -1 : Number(left > right);
}

/** Returns the first 8,000 characters, by which texts compare. */
const prefix = (value: unknown): string =>
  String(value).length > 8000 ? [...String(value)].slice(0, 8000).join('') : String(value);
