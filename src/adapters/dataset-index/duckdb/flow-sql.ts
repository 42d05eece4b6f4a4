import { parseCriteria } from '../../../core/criteria/parse.ts';
import type { Field, FieldType } from '../../../core/fields.ts';
import { applyStep, flowFields } from '../../../core/flow/check.ts';
import { parseExpression } from '../../../core/flow/expression.ts';
import type { FlowStep } from '../../../core/flow/flow.ts';
import { inStep } from '../../../core/flow/in-step.ts';
import { typeExpression } from '../../../core/flow/typing.ts';
import { compileCriteria, sortTerms } from './criteria-sql.ts';
import { compileExpression } from './expression-sql.ts';
import { literalValues, quoteName } from './sql-values.ts';

/** A column of a staged table: field and physical name. */
export interface StagedColumn {
  name: string;
  type: FieldType;
  /** Physical name, e.g. `c0`. */
  column: string;
}

const ROW = quoteName('_row');

/**
 * Compiles a flow to one SELECT over a staged table, whose column `_row` numbers the rows in the order of the source.
 * Rows are in the order that the steps define, ties in the order of the source; sorting is stable, missing values are
 * last. The result has the physical columns `c0` … `cN` without `_row`. `source` is the relation as SQL, e.g. `staged`
 * or `"load"."staged"`.
 *
 * Throws BAD_USER_INPUT as `checkFlow` does, when the steps do not fit the columns.
 */
export function compileFlow(
  steps: readonly FlowStep[],
  columns: readonly StagedColumn[],
  source: string,
): CompiledFlow {
  const plan = steps.reduce<Plan>((current, step, i) => inStep(i, step.type, () => applied(step, current, `f${i}`)), {
    from: source,
    columns: [...columns],
    order: [ROW],
  });
  const stagedColumns = plan.columns.map((column, i) => ({ ...column, column: `c${i}` }));
  const select = plan.columns.map(({ column }) => quoteName(column));
  const named = select.map((column, i) => `${column} AS ${quoteName(`c${i}`)}`).join(', ');
  return {
    sql: `SELECT ${named} FROM ${plan.from} ORDER BY ${plan.order.join(', ')}`,
    columns: stagedColumns,
    select,
    from: plan.from,
    order: plan.order,
  };
}

/** A flow as one statement, and in parts for a loader that sorts by itself. */
interface CompiledFlow {
  sql: string;
  columns: StagedColumn[];
  /** SQL of each of `columns` over `from`. */
  select: string[];
  from: string;
  /** The last key is `_row`; it is the only one where the flow does not sort. */
  order: string[];
}

/**
 * Each step wraps the relation of the steps before it. Physical columns are only added, so the order can use columns
 * that the flow has removed.
 */
interface Plan {
  from: string;
  columns: StagedColumn[];
  order: string[];
}

function applied(step: FlowStep, plan: Plan, madeColumn: string): Plan {
  const columns = applyStep(step, plan.columns, (name, type) => ({ name, type, column: madeColumn }));
  switch (step.type) {
    case 'filter':
      return { ...plan, columns, from: `(SELECT * FROM ${plan.from} WHERE ${condition(step.criteria, plan.columns)})` };
    case 'sort':
      return { ...plan, columns, order: [sortKey(step, plan.columns), ...plan.order] };
    case 'limit':
      return {
        ...plan,
        columns,
        from: `(SELECT * FROM ${plan.from} ORDER BY ${plan.order.join(', ')} LIMIT ${step.n})`,
      };
    case 'calculate':
      return {
        ...plan,
        columns,
        from: `(SELECT *, ${calculation(step.expression, plan.columns)} AS ${quoteName(madeColumn)} FROM ${plan.from})`,
      };
    case 'rename':
    case 'remove':
      return { ...plan, columns };
  }
}

const physical = (columns: StagedColumn[], name: string) =>
  quoteName(columns.find((column) => column.name === name)!.column);

/** Within a flow the length of strings is unknown, so all are compared as texts. */
const comparedFields = (columns: StagedColumn[]): Field[] =>
  flowFields(columns).map((field) => (field.type === 'string' ? { ...field, type: 'text' } : field));

function condition(criteria: Record<string, unknown>, columns: StagedColumn[]): string {
  return compileCriteria(
    parseCriteria(criteria, comparedFields(columns)),
    (field) => physical(columns, field.name),
    literalValues,
  );
}

function sortKey({ field, order }: Extract<FlowStep, { type: 'sort' }>, columns: StagedColumn[]): string {
  const sorted = comparedFields(columns).find((candidate) => candidate.name === field)!;
  return sortTerms(sorted, physical(columns, field), order === 'desc');
}

function calculation(expression: string, columns: StagedColumn[]): string {
  const typed = typeExpression(
    parseExpression(expression),
    (name) => columns.find((column) => column.name === name)?.type,
  );
  return compileExpression(typed, (name) => physical(columns, name));
}
