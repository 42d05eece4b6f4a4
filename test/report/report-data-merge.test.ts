import { expect, test } from 'vitest';
import type { FieldFormat } from '../../src/core/fields.ts';
import { mergeGroups, mergeRows } from '../../src/services/report/report-data-merge.ts';

const column = (format?: FieldFormat) => ({
  name: 'sum',
  label: 'sum',
  type: 'integer' as const,
  ...(format && { format }),
});
const [SUM, LONG_SUM] = ['7', '9007199254740993'];
const SNAPSHOT = { name: '_snapshot', label: 'Snapshot', type: 'string' };

test('a column that has exact strings in one snapshot has them in all', () => {
  const groups = (label: string | null, value: unknown, format?: FieldFormat) => ({
    label,
    result: { columns: [column(format)], rows: [[value], [null]], total: 2, truncated: false },
  });
  expect(mergeGroups([groups(null, 7), groups('May', LONG_SUM, 'int64')], true)).toEqual({
    columns: [SNAPSHOT, column('int64')],
    rows: [
      [null, SUM],
      [null, null],
      ['May', LONG_SUM],
      ['May', null],
    ],
    total: 4,
    truncated: false,
  });
  const rows = (label: string | null, value: unknown, format?: FieldFormat) => ({
    label,
    result: { fields: [column(format)], rows: [{ sum: value }], total: 1 },
  });
  expect(mergeRows([rows(null, LONG_SUM, 'int64'), rows('May', 7)], true)).toEqual({
    fields: [SNAPSHOT, column('int64')],
    rows: [
      { _snapshot: null, sum: LONG_SUM },
      { _snapshot: 'May', sum: SUM },
    ],
    total: 2,
  });
});
