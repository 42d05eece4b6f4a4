import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeXlsx } from 'hucre/xlsx';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'dws-short-write-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SOURCE = JSON.stringify(new URL('../../src/adapters/drivers/file/table-source.ts', import.meta.url).href);

/** Opens a file in a process whose files may have 100 KiB, so that a write ends early. Returns the error's code. */
function codeOfOpening(content: string | Uint8Array, config: object): string {
  const file = join(folder, 'file');
  writeFileSync(file, content);
  const script = `const { openSource } = await import(${SOURCE});
    const error = await openSource(process.argv[1], JSON.parse(process.argv[2])).then(() => undefined, (error) => error);
    console.log(error === undefined ? 'opened' : (error.code ?? error.message));`;
  const run = 'ulimit -f 100; exec "$0" --input-type=module -e "$@"';
  return execFileSync('bash', ['-c', run, process.execPath, script, file, JSON.stringify(config)], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  }).trim();
}

const ROWS = Array.from({ length: 5000 }, (_, i) => [i, 'x'.repeat(30)]);
const CSV = ROWS.map((row) => row.join(',')).join('\n');

test.each<[string, () => Promise<string | Uint8Array>, object]>([
  ['UTF-16', async () => Buffer.from(CSV, 'utf16le'), { format: 'csv', encoding: 'utf-16le' }],
  ['an array in a document', async () => JSON.stringify({ data: ROWS }), { format: 'json', path: 'data' }],
  ['a sheet', async () => writeXlsx({ sheets: [{ name: 'One', rows: ROWS }] }), { format: 'xlsx' }],
])('a copy of %s that the disk takes in part is an error, not a shorter table', async (_, content, config) => {
  expect(codeOfOpening(await content(), config)).toBe('EFBIG');
  expect(codeOfOpening('a,b\n1,2\n', { format: 'csv', encoding: 'windows-1252' })).toBe('opened');
});
