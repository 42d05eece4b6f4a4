import { isUtf8 } from 'node:buffer';
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { FileProblem, SourceTable } from '../../../core/row-source.ts';
import { readingIn, TIME_FORMS, timeFormIn } from './value-tally.ts';

const MAX_SHOWN = 100;
/** The character that replaces invalid UTF-8 in a text. */
const REPLACEMENT = '\ufffd';

/** Kinds of values that change, or decide the type of their column. */
const KINDS = [
  ...(['number', 'infinite', 'bytes', 'broken', 'cut', 'declared', 'undeclared', 'text'] as const),
  ...TIME_FORMS,
] as const;
type Kind = (typeof KINDS)[number];

const SELECT_TEXT = `Select it as an expression, such as x || '', in the query to keep the texts`;

/** The reports of the values of each kind, and the columns that they apply to. */
const PROBLEMS: {
  kind: Kind;
  when?(counts: Record<Kind, number>): boolean;
  message(values: string, verb: string, type: string): string;
}[] = [
  {
    kind: 'infinite',
    // In a column of texts it is the text `Infinity`.
    when: ({ text, bytes }) => text + bytes === 0,
    message: (values, verb) => `${values} ${verb} missing (not a finite number)`,
  },
  { kind: 'bytes', message: (values, verb) => `${values} ${verb} bytes, and written in Base64` },
  {
    kind: 'broken',
    message: (values, verb) => `${values} ${verb} not UTF-8: what cannot be read becomes the character U+FFFD`,
  },
  {
    kind: 'cut',
    when: ({ undeclared }) => undeclared === 0,
    message: (values, verb) => `${values} ${verb} cut to milliseconds. ${SELECT_TEXT}`,
  },
  {
    kind: 'local',
    when: ({ zoned, undeclared }) => zoned > 0 && undeclared === 0,
    message: (values, verb) =>
      `${values} ${verb} without a time zone, and read as UTC among times with one. ${SELECT_TEXT}`,
  },
  {
    kind: 'day',
    when: ({ zoned, local, undeclared }) => zoned + local > 0 && undeclared === 0,
    message: (values, verb) =>
      `${values} ${verb} without a time, and read as midnight in UTC among times. ${SELECT_TEXT}`,
  },
  {
    kind: 'undeclared',
    message: (values, verb, type) => `${values} ${verb} not of the declared type ${type}, which is not used`,
  },
  {
    kind: 'text',
    // A declared type that is used may have both: 1 and `true` are booleans.
    when: ({ number, declared, undeclared }) => number > 0 && declared + undeclared === 0,
    message: (values, verb) => `${values} ${verb} text among numbers, so the column is text`,
  },
];

/**
 * Returns the columns with values that fields cannot have unchanged, or whose values do not agree with most others or
 * with the declared type. Reads all rows of tables. Views are not read, as they can be slow.
 */
export function findProblems(database: DatabaseSync, tables: readonly SourceTable[]): FileProblem[] {
  return tables.flatMap((table) => {
    if (table.type !== 'table') return [];
    try {
      const problems = problemsOf(database, table);
      if (tables.length === 1) return problems;
      const place = `Table ${JSON.stringify(table.name)}`;
      return problems.map(({ message, ...problem }) => ({ ...problem, message: `${place}: ${message}` }));
    } catch {
      // A table of an unknown module cannot be read, by queries either.
      return [];
    }
  });
}

function problemsOf(database: DatabaseSync, { name: table, columns }: SourceTable): FileProblem[] {
  const counted = columns.map(({ type }) => new ValueCounts(type));
  const statement = database.prepare(`select * from ${quoteName(table)}`);
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  for (const row of statement.iterate() as unknown as Iterable<SQLOutputValue[]>)
    for (let i = 0; i < counted.length; i++) counted[i]!.see(row[i]!);
  return columns.flatMap(({ name }, i) => {
    const column = counted[i]!;
    if (column.counts.broken > 0) column.counts.broken = countBroken(database, table, name);
    return column.problems().map((message) => ({ column: name, message }));
  });
}

/** Returns the number of texts that are not UTF-8. Others can contain U+FFFD itself. */
function countBroken(database: DatabaseSync, table: string, column: string): number {
  const { encoding } = database.prepare('pragma encoding').get() as { encoding: string };
  if (encoding !== 'UTF-8') return 0;
  const bytes = database.prepare(
    `select cast(${quoteName(column)} as blob) as bytes from ${quoteName(table)} where typeof(${quoteName(column)}) = 'text'`,
  );
  let count = 0;
  for (const row of bytes.iterate()) if (!isUtf8(row['bytes'] as Uint8Array)) count += 1;
  return count;
}

/** Counts the values of a column by their kinds. */
class ValueCounts {
  readonly counts = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<Kind, number>;
  readonly #type: string;
  readonly #reading: ReturnType<typeof readingIn>;
  readonly #timeForm: ReturnType<typeof timeFormIn>;
  readonly #first = new Map<Kind, SQLOutputValue>();

  constructor(type: string) {
    this.#type = type;
    this.#reading = readingIn(type);
    this.#timeForm = timeFormIn(type);
  }

  see(value: SQLOutputValue): void {
    if (value === null) return;
    if (typeof value === 'string') {
      this.#count('text', value);
      if (value.includes(REPLACEMENT)) this.#count('broken', value);
      const form = this.#timeForm?.(value);
      if (form) this.#count(form, value);
    } else if (typeof value === 'bigint') this.counts.number += 1;
    else if (typeof value === 'number') {
      this.counts.number += 1;
      if (!Number.isFinite(value)) this.#count('infinite', value);
    } else this.#count('bytes', value);
    const reading = this.#reading?.(value);
    if (reading === 'cut') this.#count('cut', value);
    else if (reading === 'none') this.#count('undeclared', value);
    else if (reading === 'whole') this.counts.declared += 1;
  }

  #count(kind: Kind, value: SQLOutputValue): void {
    if (this.counts[kind] === 0) this.#first.set(kind, value);
    this.counts[kind] += 1;
  }

  problems(): string[] {
    return PROBLEMS.flatMap(({ kind, when, message }) => {
      const count = this.counts[kind];
      if (count === 0 || when?.(this.counts) === false) return [];
      const [values, verb] = count === 1 ? ['1 value', 'is'] : [`${count} values`, 'are'];
      return [message(`${values}${example(this.#first.get(kind)!)}`, verb, this.#type)];
    });
  }
}

/** Returns a value as an example; nothing for bytes. */
function example(value: SQLOutputValue): string {
  if (value instanceof Uint8Array) return '';
  const text = String(value);
  return `, such as ${JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text)},`;
}

const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
