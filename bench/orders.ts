/** Orders of twelve columns of common types, as a table of Postgres and as segments that a driver writes. */
import { CsvSegmentWriter } from '../src/adapters/drivers/csv-encoder.ts';
import type { Column } from '../src/core/fields.ts';
import type { Segment } from '../src/core/row-source.ts';

const DAY_MS = 86_400_000;

/** Returns the SQL that generates orders. */
export const ordersQuery = (rows: number): string => `
  select n as id,
    'Customer ' || (n * 7919) % 50000 as customer,
    (array['new','paid','shipped','returned','cancelled'])[1 + n * 31 % 5] as status,
    (array['RU','DE','US','FR','CN','IN','BR','GB'])[1 + n * 17 % 8] as country,
    (n * 104729 % 1000000 / 100.0)::numeric(12,2) as amount,
    (n % 9973) / 8.0 as price,
    1 + n % 20 as quantity,
    (n * 13 % 100) / 100.0::float8 as discount,
    n % 3 <> 0 as paid,
    timestamptz '2022-01-01 00:00Z' + n * interval '94.6 seconds' as created,
    date '2022-01-01' + (n % 1095)::int as shipped,
    case when n % 10 <> 0 then 'note ' || md5(n::text) || ', "quoted" and ' || n % 1000 || ' more' end as note
  from generate_series(1, ${rows}::bigint) n`;

/** Returns the SQL that creates the table `orders`. */
export const ordersTable = (rows: number): string => `create table orders as ${ordersQuery(rows)}`;

/** The columns of the segments. */
export const ORDER_COLUMNS: Column[] = [
  { name: 'id', type: 'integer', storage: { kind: 'int64' }, sourceType: 'bigint' },
  { name: 'customer', type: 'string', storage: { kind: 'text' }, sourceType: 'text' },
  { name: 'status', type: 'string', storage: { kind: 'text' }, sourceType: 'text' },
  { name: 'country', type: 'string', storage: { kind: 'text' }, sourceType: 'text' },
  {
    name: 'amount',
    type: 'number',
    storage: { kind: 'decimal', precision: 12, scale: 2 },
    sourceType: 'numeric(12,2)',
  },
  { name: 'price', type: 'number', storage: { kind: 'decimal' }, sourceType: 'numeric' },
  { name: 'quantity', type: 'integer', storage: { kind: 'int64' }, sourceType: 'bigint' },
  { name: 'discount', type: 'number', storage: { kind: 'float64' }, sourceType: 'float8' },
  { name: 'paid', type: 'boolean', storage: { kind: 'boolean' }, sourceType: 'boolean' },
  { name: 'created', type: 'datetime', storage: { kind: 'timestamp' }, sourceType: 'timestamptz' },
  { name: 'shipped', type: 'date', storage: { kind: 'date' }, sourceType: 'date' },
  { name: 'note', type: 'string', storage: { kind: 'text' }, sourceType: 'text' },
];
const pick = <T>(from: T[], n: number): T => from[n % from.length]!;
const START = Date.UTC(2022, 0, 1);

/** Writes segments into a folder. */
export async function* orderSegments(dir: string, rows: number): AsyncGenerator<Segment> {
  const writer = new CsvSegmentWriter(dir);
  for (let n = 1; n <= rows; n++) {
    writer.row([
      String(n),
      `Customer ${(n * 7919) % 50_000}`,
      pick(['new', 'paid', 'shipped', 'returned', 'cancelled'], n * 31),
      pick(['RU', 'DE', 'US', 'FR', 'CN', 'IN', 'BR', 'GB'], n * 17),
      (((n * 104_729) % 1_000_000) / 100).toFixed(2),
      String((n % 9973) / 8),
      String(1 + (n % 20)),
      String(((n * 13) % 100) / 100),
      n % 3 === 0 ? 'f' : 't',
      new Date(START + n * 94_600).toISOString(),
      new Date(START + (n % 1095) * DAY_MS).toISOString().slice(0, 10),
      n % 10 === 0 ? null : `note ${((n * 2_654_435_761) % 2 ** 32).toString(36)} "quoted", and ${n % 1000} more`,
    ]);
    if (writer.isFull) yield await writer.flush();
  }
  if (writer.rows > 0) yield await writer.flush();
}
