import { expect } from 'vitest';
import type { StagedColumn } from '../../src/adapters/dataset-index/duckdb/flow-sql.ts';

/** Columns of the rows that flows are tested with. */
export const COLUMNS: StagedColumn[] = [
  { name: 'id', type: 'integer', column: 'c0' },
  { name: 'region', type: 'string', column: 'c1' },
  { name: 'amount', type: 'number', column: 'c2' },
  { name: 'day', type: 'date', column: 'c3' },
  { name: 'at', type: 'datetime', column: 'c4' },
  { name: 'paid', type: 'boolean', column: 'c5' },
  { name: 'extra', type: 'json', column: 'c6' },
  { name: 'Net `sum`', type: 'number', column: 'c7' },
];
/** Matches the error for an invalid flow. */
export const invalid = (message: string) => expect.objectContaining({ status: 400, message });
/** Returns a step with its default order, as a parsed flow has it. */
export const withOrder = (step: unknown) =>
  (step as { type: string }).type === 'sort' ? { order: 'asc', ...(step as object) } : step;
/** Returns a flow that calculates the field `x`. */
export const calculateX = (expression: string) => [{ type: 'calculate', field: 'x', expression }];
