import { expect, test, vi } from 'vitest';
import { DuckdbSession } from '../../src/adapters/drivers/file/duckdb-session.ts';
import type { FileColumn } from '../../src/adapters/drivers/file/file-config.ts';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();

/** Values of six columns: nothing, decimals, versions, German numbers, German thousands, dates. */
const VALUES = [
  ['', ''],
  ['1.25', '2.5'],
  ['1.9', '1.10'],
  ['1.234,5', '2,5'],
  ['1.234', '2.345'],
  ['31.12.2025', '1.2.2025'],
];

/** Returns a file with columns of all these kinds, so often. */
function wideFile(times: number): string {
  const line = (cells: string[]) => cells.map((cell) => `"${cell}"`).join(',');
  const columns = Array.from({ length: times }, () => VALUES).flat();
  const names = columns.map((_, i) => `c${i}`);
  return `${[names, columns.map(([first]) => first!), columns.map(([, second]) => second!)].map(line).join('\n')}\n`;
}

/** Reads a file. Returns its columns and problems, and how many checks of values its statements have. */
async function read(times: number) {
  const rows = vi.spyOn(DuckdbSession.prototype, 'rows');
  try {
    const { config, problems } = await readInProcess(wideFile(times));
    const checks = rows.mock.calls.flatMap(([sql]) => sql.match(/(?:regexp_full_match|strptime)\(v,/g) ?? []).length;
    const columns = (config.columns as FileColumn[]).map(({ type, decimal, dateFormat }) => [
      type,
      decimal ?? dateFormat,
    ]);
    return { columns, problems, checks };
  } finally {
    rows.mockRestore();
  }
}

/** Returns how often the statements check values of declared columns. */
async function checksOfDeclared(times: number): Promise<number> {
  const { config } = await readInProcess(wideFile(times));
  const statements = vi.spyOn(DuckdbSession.prototype, 'rows');
  try {
    await readInProcess(wideFile(times), { columns: config.columns });
    return statements.mock.calls.flatMap(([sql]) => sql.match(/\btry\(/g) ?? []).length;
  } finally {
    statements.mockRestore();
  }
}

test('the check of declared types has one expression for all columns that are read alike', async () => {
  const narrow = await checksOfDeclared(1);
  expect(narrow).toBeGreaterThan(2);
  expect(await checksOfDeclared(30)).toBe(narrow);
});

test('each check of values is one expression for any number of columns', async () => {
  const [narrow, wide] = [await read(1), await read(30)];
  const kinds = [
    ['VARCHAR', undefined],
    ['DOUBLE', undefined],
    ['DOUBLE', undefined],
    ['DOUBLE', ','],
    ['VARCHAR', undefined],
    ['DATE', '%d.%m.%Y'],
  ];
  expect(narrow.columns).toEqual(kinds);
  expect(narrow.problems.map(({ column }) => column)).toEqual(['c4', 'c2']);
  expect(wide.columns).toEqual(Array.from({ length: 30 }, () => kinds).flat());
  expect(wide.problems).toHaveLength(60);
  expect(narrow.checks).toBeGreaterThan(30);
  expect(wide.checks).toBe(narrow.checks);
});
