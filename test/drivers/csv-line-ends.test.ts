import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { recordsIn, lineAt } from '../../src/adapters/drivers/file/csv-scan.ts';
import { csvSource } from '../../src/adapters/drivers/file/csv-source.ts';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();
const ENDS = { LF: '\n', CRLF: '\r\n', CR: '\r' };
const DIALECT = { delimiter: ',', quote: '"', escape: '"', skip: 0, header: true, names: ['a', 'b'] };

/** Writes a text to a file, and runs `work` with its path. */
async function withFile<T>(content: string | Buffer, work: (path: string) => T | Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'dws-csv-'));
  try {
    await writeFile(join(folder, 'x.csv'), content);
    return await work(join(folder, 'x.csv'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

const values = (content: string | Buffer, given?: Record<string, unknown>) =>
  readInProcess(content, given).then(({ types, rows }) => [types.map((type) => type.replace(/ \w+$/, '')), ...rows]);

describe('records end outside of quotes', () => {
  const pairs = Object.entries(ENDS).flatMap(([record, end]) =>
    Object.entries(ENDS).map(([quoted, inner]) => [record, quoted, end, inner] as const),
  );

  test.each(pairs)('rows end with %s, quotes contain %s', async (_, __, end, inner) => {
    const lines = [`id,"Long${inner}name",price`, '1,Ann,1.5', `2,"B${inner}ob",2.5`, ''];
    const [names, ...rows] = [
      ['id', `Long${inner}name`, 'price'],
      [1, 'Ann', 1.5],
      [2, `B${inner}ob`, 2.5],
    ];
    expect(await values(lines.join(end))).toEqual([names, ...rows]);
    expect(await values(lines.join(end), { header: true })).toEqual([names, ...rows]);
    expect(await values(`\ufeff${lines.join(end)}`)).toEqual([names, ...rows]);
    expect(await values(`Title${end}${lines.join(end)}`, { skip: 1 })).toEqual([names, ...rows]);
    expect(await values(Buffer.from(`\ufeff${lines.join(end).replaceAll(',', '\t')}`, 'utf16le'))).toEqual([
      names,
      ...rows,
    ]);
    const headless = [`1,"x${inner}y"`, '2,z'].join(end);
    expect(await values(headless, { header: false })).toEqual([
      ['column_1', 'column_2'],
      [1, `x${inner}y`],
      [2, 'z'],
    ]);
  });

  test.each([
    ['CRLF, then LF', 'id,name\r\n1,Ann\n2,Bob\r\n'],
    ['LF, then CRLF', 'id,name\n1,Ann\r\n2,Bob\n'],
    ['LF, then CR', 'id,name\n1,Ann\r2,Bob\n'],
    ['all three', 'id,name\r1,Ann\n2,Bob\r\n'],
    ['a last line that differs', 'id,name\r\n1,Ann\r\n2,Bob\n'],
    ['without a last line end', 'id,name\r\n1,Ann\n2,Bob'],
  ])('mixed: %s', async (_, content) => {
    const expected = [
      ['id', 'name'],
      [1, 'Ann'],
      [2, 'Bob'],
    ];
    expect(await values(content)).toEqual(expected);
    expect(await values(content.replaceAll(',', ';'))).toEqual(expected);
  });

  test('line ends that change far from the beginning', async () => {
    const many = Array.from({ length: 300_000 }, (_, i) => `${i},x`).join('\r\n');
    const { config } = await readInProcess(`id,name\r\n${many}\n300000,y\n`);
    expect(config).toMatchObject({ columns: [{ type: 'BIGINT' }, { type: 'VARCHAR' }] });
  });

  test('a quote in the first heading after a byte order mark, in skipped lines, and names in quotes', async () => {
    const rows = [
      ['id', 'a'],
      [1, 2],
    ];
    expect(await values('\ufeff"id",a\n1,2\n')).toEqual(rows);
    expect(await values('A "report\n\nid,a\n1,2\n', { skip: 2 })).toEqual(rows);
    expect(await values('"A report\n\nid,a\n1,2\n', { skip: 2 })).toEqual(rows);
    expect(await values('"A\nreport"\n\nid,a\n1,2\n')).toEqual(rows);
    expect(await values('id,a\n# "open\n1,2\n# x, y, z\n')).toEqual(rows);
  });
});

describe('what is done to a file', () => {
  test('only what DuckDB cannot read is copied', async () => {
    const unchanged = [
      'a,b\n1,2\n',
      'a,b\r\n"1\n",2\r\n',
      'a,b\r1,2\r',
      'a,"b\r\n"\n1,2\n',
      'a,b',
      '\ufeffa,b\n1,"2"\n',
    ];
    for (const content of unchanged)
      await withFile(content, (path) => expect(csvSource(path, DIALECT).path).toBe(path));
    const copied: [string, object, string][] = [
      ['a,b\r\n1,2\n', {}, 'a,b\n1,2\n'],
      ['\ufeff"a",b\n1,2\n', {}, '"a",b\n1,2\n'],
      ['a,b\n1,2\n\x1a', {}, 'a,b\n1,2\n'],
      ['a,b\r\n1,2\x1a\r\n', {}, 'a,b\n1,2'],
      ['"t\na,b\n#\n1,"2\r\n3"\n', { skip: 1, comment: '#' }, '\na,b\n\n1,"2\r\n3"\n'],
    ];
    for (const [content, more, text] of copied)
      await withFile(content, async (path) => {
        const source = csvSource(path, { ...DIALECT, ...more });
        expect(source).toMatchObject({ lineEnd: '\n' });
        expect(await readFile(source.path, 'utf8')).toBe(text);
      });
  });

  test('records and lines are found across the pieces in which a file is read', async () => {
    const record = `"${'x\r\n""y'.repeat(2000)}",1`;
    const ends = ['\r\n', '\n', '\r'];
    const content = Array.from({ length: 600 }, (_, i) => record + ends[i % 3]!).join('');
    await withFile(content, (path) => {
      const found = [...recordsIn(path, DIALECT)].map(({ bytes, end, offset }) => [bytes.length, end, offset]);
      let offset = 0;
      for (const [i, [length, end, at]] of found.entries()) {
        expect([length, end, at]).toEqual([record.length, ends[i % 3], offset]);
        offset += record.length + ends[i % 3]!.length;
      }
      expect(found).toHaveLength(600);
      expect(lineAt(path, found[3]![2] as number)).toBe(6004);
    });
  });

  test('a quote that is never closed is refused with its line', async () => {
    const content = `a,b\r\n1,2\n3,"${'x\n'.repeat(9_000_000)}`;
    await expect(readInProcess(content)).rejects.toMatchObject({
      status: 400,
      message:
        'Line 3 of the file: a quote is not closed, or a record is longer than 16 MiB. Set quote to "" if values are not quoted',
    });
  });
});
