import { rm, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { neverAborted } from '../support/postgres-source.ts';
import { driverOf } from '../support/uploaded-source.ts';
import { SELECT_ALL, useUploads } from './driver-file-fixture.ts';

const { files, detectConfig, upload, uploadFailure, openSmallFile } = useUploads();

const RAGGED =
  '. Set ragged to true if records may have fewer values than columns, or skip if other lines precede the table';

describe('a file that cannot be read is refused with the place and the reason', () => {
  test.each([
    [
      'too many values',
      'a,b\n1,2\n1,2,3\n4,5\n',
      `Line 3 of the file: Expected number of columns: 2, found: 3${RAGGED}`,
    ],
    ['a line below', 'a,b\n1,2\nTotal: 2\n', `Line 3 of the file: Expected number of columns: 2, found: 1${RAGGED}`],
    ['names and a comma', 'a,b,\n1,2\n', `Line 2 of the file: Expected number of columns: 3, found: 2${RAGGED}`],
    [
      'an open quote',
      'a,b\n1,"x\n2,3\n',
      'Line 2 of the file: a quote is not closed, or text follows a closed one. ' +
        'Set quote to "" if values are not quoted, or escape to the character before quotes in them',
    ],
    [
      'a line without end',
      `a,b\n${'x'.repeat(17_000_000)},1\n`,
      'Line 2 of the file: Maximum line size of 16777216 bytes exceeded',
    ],
    [
      'broken UTF-8',
      Buffer.concat([Buffer.from('a\nü\nx'), Buffer.from([0xff]), Buffer.from('\n')]),
      'Line 3 of the file is broken UTF-8',
    ],
    ['a cut character', Buffer.from('a\nü\nü').subarray(0, -1), 'Line 3 of the file is broken UTF-8'],
    [
      'bytes of no encoding',
      Buffer.concat([Buffer.from('a\nx'), Buffer.from([0xfc, 0x0a, 0x81]), Buffer.from('\n')]),
      'Line 3 of the file is neither UTF-8 nor Windows-1252: set encoding, or save the file as UTF-8',
    ],
    [
      'a NUL past the beginning',
      `a,b\n${'1,2\n'.repeat(400_000)}x\0y,1\n`,
      'Line 400002 of the file has a character U+0000',
    ],
    ['a NUL in a short file', 'id,name\n1,A\0nn\n2,Bob\n', 'Line 2 of the file has a character U+0000'],
    ['half a UTF-16 pair', Buffer.from('\ufeffa\n\ud800x\n', 'utf16le'), 'The file is not UTF-16LE'],
    ['nothing', '', 'The file is empty'],
    ['blank lines', '\n\n', 'The file has only blank lines'],
    [
      'too many columns',
      `${Array.from({ length: 10_000 }, (_, i) => `c${i}`).join(',')}\n`,
      'The file has 10000 columns; at most 2000 are possible',
    ],
    ['gzip', Buffer.from('1f8b0800000000000003', 'hex'), 'The file is packed (gzip): upload what is in it'],
    ['an archive', Buffer.from('504b0304140006000800', 'hex'), 'The file is packed (ZIP): upload what is in it'],
  ])('%s', async (_, content, message) => {
    expect(await uploadFailure(content)).toMatchObject({ status: 400, code: 'BAD_USER_INPUT', message });
  });

  test.each([
    ['an image', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
    ['a SQLite file', 'SQLite format 3\0'],
    ['a PDF', '%PDF-1.7\n%\x01\x02\x03'],
  ])('%s is not recognised', async (_, content) => {
    await writeFile(files.path('other'), content);
    expect(await detectConfig('other', 'x.csv')).toBeNull();
  });

  test('2,000 columns are possible', async () => {
    const numbers = Array.from({ length: 2000 }, (_, i) => i);
    const { file } = await upload(`${numbers.map((i) => `c${i}`).join(',')}\n${numbers.join(',')}\n`);
    const { generation, rows } = await file.index(SELECT_ALL);
    expect(generation.fields).toHaveLength(2000);
    expect(rows).toMatchObject([{ c0: 0, c1999: 1999 }]);
  });
});

describe('schema and connection test', () => {
  test('the schema is one table, `data`', async () => {
    expect(await (await openSmallFile()).connection.schema(neverAborted)).toEqual([
      {
        schema: 'main',
        name: 'data',
        type: 'table',
        columns: [
          { name: 'a', type: 'BIGINT', nullable: true, primaryKey: false },
          { name: 'b', type: 'VARCHAR', nullable: true, primaryKey: false },
        ],
      },
    ]);
    expect(driverOf('file').upload!.defaultQuery({})).toBe(SELECT_ALL);
  });

  test('the connection test reports whether the file can be read', async () => {
    const file = await openSmallFile();
    expect(await file.connection.test(neverAborted)).toMatchObject({
      ok: true,
      version: expect.stringMatching(/^DuckDB v/) as string,
      warnings: [],
      message: null,
    });
    await rm(files.path('small'));
    const afterRemoval = await file.connection.test(neverAborted);
    expect(afterRemoval).toMatchObject({ ok: false, version: null });
    expect(afterRemoval.message).not.toContain(files.dir);
  });

  test('a connection requires a file and its format', async () => {
    await openSmallFile();
    await expect(files.open('file', 'small').query(SELECT_ALL)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('has no format') as string,
    });
    expect(() => driverOf('file').connect({}, {}, null)).toThrow('The datasource has no file');
  });
});
