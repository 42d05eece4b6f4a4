import type { Query } from '../../core/database.ts';
import { SEALED_COLUMNS } from '../../core/sealed-columns.ts';

/** A column of a primary key. */
interface KeyColumn extends Record<string, unknown> {
  table: string;
  name: string;
  type: string;
}

/** A registered column with sealed values, as SQL over a row `r` of its table. */
export interface SealedPlace {
  /** Its name in `SEALED_COLUMNS`. */
  name: string;
  table: string;
  keys: readonly Pick<KeyColumn, 'name' | 'type'>[];
  isBytes: boolean;
  /** The sealed value as text; bytes in Base64. */
  value: string;
  /** Fingerprint of the key of the sealed value; null for a value that is not sealed. */
  fingerprint: string;
  /** Length of the stored value in bytes. */
  bytes: string;
  /** The assignment that stores the value `to`, SQL for a text like `value`. */
  assign(to: string): string;
}

/** Rows of a table between two keys. Null is the start or the end of the table. */
export interface KeyRange {
  after: string[] | null;
  upTo: string[] | null;
}

/** Number of rows that one statement reads, so that none takes long. */
const RANGE_ROWS = 10_000;

/**
 * Returns the places of `SEALED_COLUMNS` that exist. The database of an older migration lacks the places of later ones.
 */
export async function findPlaces(query: Query, names: readonly string[] = SEALED_COLUMNS): Promise<SealedPlace[]> {
  const wanted = names.map((name) => ({ name, path: name.split('.') }));
  const tables = [...new Set(wanted.map(({ path }) => path[0]))];
  const columns = await query<{ table: string; name: string; type: string }>({
    text: `
      select c.relname as "table", a.attname as name, format_type(a.atttypid, a.atttypmod) as type
      from pg_catalog.pg_class c
      join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'dws'::regnamespace and c.relkind = 'r' and c.relname = any($1::text[])`,
    values: [tables],
  });
  const keys = await query<KeyColumn>({
    text: `
      select c.relname as "table", a.attname as name, format_type(a.atttypid, a.atttypmod) as type
      from pg_catalog.pg_index i
      join pg_catalog.pg_class c on c.oid = i.indrelid
      join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
      where c.relnamespace = 'dws'::regnamespace and i.indisprimary and c.relname = any($1::text[])
      order by c.relname, array_position(i.indkey::int2[], a.attnum)`,
    values: [tables],
  });
  return wanted.flatMap(({ name, path: [table = '', column = '', ...path] }) => {
    const found = columns.find((one) => one.table === table && one.name === column);
    return found
      ? [
          placeOf(
            { name, table, column, path },
            found.type,
            keys.filter((one) => one.table === table),
          ),
        ]
      : [];
  });
}

function placeOf(
  { name, table, column, path }: { name: string; table: string; column: string; path: string[] },
  type: string,
  keys: readonly KeyColumn[],
): SealedPlace {
  const stored = `r.${column}`;
  const isBytes = type === 'bytea';
  const isJson = path.length > 0;
  const pathText = `'{${path.join(',')}}'`;
  const value = isBytes ? `encode(${stored}, 'base64')` : isJson ? `${stored} #>> ${pathText}` : stored;
  return {
    name,
    table,
    keys,
    isBytes,
    value,
    fingerprint: isBytes
      ? `case when encode(substring(${stored} from 1 for 1), 'hex') = '01' then encode(substring(${stored} from 2 for 8), 'hex') end`
      : `substring(left(${value}, 20) from '^v1[.]([0-9a-f]{16})[.]$')`,
    bytes: `octet_length(${isJson ? value : stored})`,
    assign: (to) => {
      if (isBytes) return `${column} = decode(${to}, 'base64')`;
      return `${column} = ${isJson ? `jsonb_set(${stored}, ${pathText}, to_jsonb(${to}))` : to}`;
    },
  };
}

/** SQL for the names of the key's columns, and the same as texts with the names `key0`, `key1`, and so on. */
export const keyNames = ({ keys }: SealedPlace): string => keys.map(({ name }) => `r.${name}`).join(', ');
export const keyTexts = ({ keys }: SealedPlace): string =>
  keys.map(({ name }, index) => `r.${name}::text as key${index}`).join(', ');

/** Returns the key of a row that was selected with `keyTexts`. */
export const keyOf = ({ keys }: SealedPlace, row: Record<string, unknown>): string[] =>
  keys.map((_, index) => row[`key${index}`] as string);

/** Returns the SQL condition of a range and adds its values to `values`. */
export function withinRange(place: SealedPlace, { after, upTo }: KeyRange, values: unknown[]): string {
  const bound = (operator: string, key: string[]) => {
    const parameters = place.keys.map(({ type }, index) => `$${values.push(key[index])}::${type}`);
    return `(${keyNames(place)}) ${operator} (${parameters.join(', ')})`;
  };
  return [...(after ? [bound('>', after)] : []), ...(upTo ? [bound('<=', upTo)] : []), 'true'].join(' and ');
}

/** Yields the rows of a place in ranges that one statement can read. */
export async function* rangesOf(query: Query, place: SealedPlace): AsyncGenerator<KeyRange> {
  let after: string[] | null = null;
  for (;;) {
    const values: unknown[] = [];
    const [row]: Record<string, unknown>[] = await query({
      text: `
        select ${keyTexts(place)}
        from dws.${place.table} r
        where ${withinRange(place, { after, upTo: null }, values)}
        order by ${keyNames(place)}
        offset ${RANGE_ROWS - 1} limit 1`,
      values,
      isSelected: true,
    });
    const upTo: string[] | null = row ? keyOf(place, row) : null;
    yield { after, upTo };
    if (!upTo) return;
    after = upTo;
  }
}
