import { compileFlow } from './flow-sql.ts';
import type { LoadPlan } from '../../../core/dataset-index.ts';
import type { Field } from '../../../core/fields.ts';
import type { LoadStatements } from './load-statements.ts';
import { DEFAULT_TYPE } from './staging-types.ts';
import type { LoadedField } from './staging-types.ts';

/**
 * The fields of the generation: all of `fields`, or with `syncFields=false` exactly those of `kept`, in their order.
 * @param vanished makes a field without values of one that the source no longer has
 */
export function keepFields<F extends LoadedField>(fields: F[], kept: Field[] | undefined, vanished: (field: LoadedField) => F): F[] {
  if (!kept) return fields;
  const present = new Map(fields.map((field) => [field.name, field]));
  return kept.map(({ name, type }, i) => present.get(name) ?? vanished({ name, type, column: `c${fields.length + i}`, sqlType: DEFAULT_TYPE[type] }));
}

/** Runs the flow over the staged table into the generation's own; answers its fields with the types that came of it. */
export async function applyFlow(statements: LoadStatements, plan: LoadPlan, staged: LoadedField[], from: string, into: string): Promise<LoadedField[]> {
  const { sql, columns } = compileFlow(plan.flow, staged, `(SELECT *, rowid AS _row FROM ${from})`);
  const fields = keepFields(columns.map((column) => ({ ...column, sqlType: '' })), plan.keepFields, (field) => field);
  const select = fields.map(({ column, sqlType }) => (sqlType === '' ? column : `CAST(NULL AS ${sqlType}) AS ${column}`)).join(', ');
  await statements.change(`CREATE TABLE ${into} AS ${plan.keepFields ? `SELECT ${select} FROM (${sql})` : sql}`);
  const types = new Map((await statements.rows(`DESCRIBE ${into}`)).map(([column, type]) => [String(column), String(type)]));
  return fields.map((field) => ({ ...field, sqlType: types.get(field.column)! }));
}
