import type { LoadPlan } from '../../../core/dataset-index.ts';
import { compileFlow } from './flow-sql.ts';
import { keepFields } from './load-fields.ts';
import type { LoadStatements } from './load-statements.ts';
import type { StagedSize } from './stage-rows.ts';
import type { LoadedField } from './staging-types.ts';

/** Bytes of rows that one statement sorts: DuckDB's sort stores the texts of its rows in memory. */
const SORTED_BYTES = 16 << 20;

/** Runs the flow over `staged.data` into `result.data` and returns the resulting fields with their types. */
export async function applyFlow(
  statements: LoadStatements,
  plan: LoadPlan,
  staged: LoadedField[],
  size: StagedSize,
): Promise<LoadedField[]> {
  const flow = compileFlow(plan.flow, staged, '(SELECT *, rowid AS _row FROM staged.data)');
  const fields = keepFields(
    flow.columns.map((column) => ({ ...column, sqlType: '' })),
    plan.keepFields,
    (field) => field,
  );
  const selectOf = (column: string) => flow.select[flow.columns.findIndex((one) => one.column === column)]!;
  const select = fields
    .map(({ column, sqlType }) => `${sqlType === '' ? selectOf(column) : `CAST(NULL AS ${sqlType})`} AS ${column}`)
    .join(', ');
  const order = flow.order.length === 1 ? '' : ` ORDER BY ${flow.order.join(', ')}`;
  // A scan returns rows in the order of the source, so only a flow that sorts needs a sort.
  if (order === '' || size.bytes <= SORTED_BYTES)
    await statements.change(`CREATE TABLE result.data AS SELECT ${select} FROM ${flow.from}${order}`);
  else await sortInPieces(statements, flow, select, Math.ceil(size.rows / Math.ceil(size.bytes / SORTED_BYTES)));
  const types = new Map(
    (await statements.rows('DESCRIBE result.data')).map(([column, type]) => [String(column), String(type)]),
  );
  return fields.map((field) => ({ ...field, sqlType: types.get(field.column)! }));
}

/** Sorts only the row numbers, then fetches the rows in their new order, piece by piece. */
async function sortInPieces(
  statements: LoadStatements,
  flow: ReturnType<typeof compileFlow>,
  select: string,
  piece: number,
): Promise<void> {
  await statements.change(`CREATE TABLE staged.unsorted AS SELECT * FROM ${flow.from}`);
  await statements.change(
    `CREATE TABLE staged.ranked AS
      SELECT rowid AS number, row_number() OVER (ORDER BY ${flow.order.join(', ')}) AS rank FROM staged.unsorted`,
  );
  await statements.change(`CREATE TABLE result.data AS SELECT ${select} FROM staged.unsorted LIMIT 0`);
  const [count] = await statements.rows('SELECT count(*) FROM staged.ranked');
  await statements.change('BEGIN');
  for (let from = 0; from < Number(count![0]); from += piece) {
    await statements.change(`INSERT INTO result.data
      SELECT ${select} FROM staged.unsorted JOIN staged.ranked ON unsorted.rowid = ranked.number
      WHERE rank > ${from} AND rank <= ${from + piece} ORDER BY rank`);
  }
  await statements.change('COMMIT');
}
