import { describe, expect, test } from 'vitest';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();

/** Returns the message with which a file is refused. */
const refusal = (content: string | Buffer, name: string): Promise<string> =>
  readInProcess(content, {}, name).then(
    () => 'not refused',
    (error: unknown) => (error as Error).message,
  );

const utf16 = (text: string, isBig: boolean): Buffer =>
  isBig ? Buffer.from(text, 'utf16le').swap16() : Buffer.from(text, 'utf16le');

/** Returns a text in UTF-32. */
function utf32(text: string, isBig: boolean): Buffer {
  const units = [...text].map((character) => character.codePointAt(0)!);
  const bytes = Buffer.alloc(4 * units.length);
  units.forEach((unit, i) => (isBig ? bytes.writeUInt32BE(unit, 4 * i) : bytes.writeUInt32LE(unit, 4 * i)));
  return bytes;
}

const UTF_32 = /^The file is UTF-32, which cannot be read: save it as UTF-8$/;

describe('the message says what the file is, or where its error is', () => {
  test.each([
    ['{"a":1}\n{"a":"\\ud83d"}\n', 'x.ndjson', /^Line 2 of the file: half of a character/],
    ['{"a":1}\n\n{"a":"\\ud83d"}\n', 'x.ndjson', /^Line 3 of the file: half of a character/],
    ['{"a":1}\n{"a":"x\ty"}\n', 'x.ndjson', /^Line 2 of the file: Bad control.*Write control characters by escapes/],
    ['{"a":"x\x01y"}\n', 'x.ndjson', /^Line 1 of the file: Bad control.*Write control characters by escapes/],
    ['[{"a":"x\x01y"}]', 'x.json', /^Malformed JSON at byte 8 of record 1: a control character in a text: write/],
    ['{"a":tru}\n{"a":1}\n', 'x.ndjson', /^Line 1 of the file: Unexpected token/],
    ['[{"a":1},]', 'x.json', /of record 2: no value follows a comma or stands before it: remove the comma$/],
    ['[{"a":1},,{"a":2}]', 'x.json', /of record 2: no value follows a comma or stands before it: remove the comma$/],
    ['[,{"a":1}]', 'x.json', /of record 1: no value follows a comma or stands before it: remove the comma$/],
    [
      '[[1,"x"]]',
      'x.json',
      /^Record 1 of the file is not a JSON object, but an array\. Each row must be an object with/,
    ],
    ['[1,2,3]', 'x.json', /^Record 1 of the file is not a JSON object, but a number\. Each row must be/],
    ['[{"a":1},"x"]', 'x.json', /^Record 2 of the file is not a JSON object, but a text\. Each row must be/],
    ['[{"a":1},null]', 'x.json', /^Record 2 of the file is not a JSON object, but null\. Each row must be/],
    ['{"a":1}\ntrue\n', 'x.ndjson', /^Record 2 of the file is not a JSON object, but a boolean\. Each row must be/],
    [
      '[1,2]\n[3,4]\n',
      'x.ndjson',
      /^Line 1 of the file is a JSON array, and further lines follow: a JSON table is one/,
    ],
    [utf32('id,name\n1,Łódź\n', false), 'x.csv', UTF_32],
    [utf32('id,name\n1,Łódź\n', true), 'x.csv', UTF_32],
    [utf32('\ufeffid,name\n1,Łódź\n', false), 'x.csv', UTF_32],
    [utf32('\ufeff[{"a":1}]', true), 'x.json', UTF_32],
    ['{"a":1}\n{"a":tru}\n', 'x.ndjson', /^Line 2 of the file: /],
    [
      '{"a":1}\n{"a":NaN}\n',
      'x.ndjson',
      /^Line 2 of the file: .*JSON has no NaN and no Infinity: replace them by null/,
    ],
    ['{"a":NaN}\n', 'x.ndjson', /^Line 1 of the file: .*JSON has no NaN and no Infinity: replace them by null/],
    ['[{"a":1},{"a":NaN}]', 'x.json', /^Record 2 of the file has a word that JSON does not have, such as NaN/],
    ['[{"a":[-Infinity]}]', 'x.json', /^Record 1 of the file has a word that JSON does not have, such as NaN/],
    ['{"a":1,"b\\u0000c":2}\n', 'x.ndjson', /^The column name "b\\u0000c" has a character U\+0000$/],
    ['[{"a":1,"\\u0000":2}]', 'x.json', /^The column name "\\u0000" has a character U\+0000$/],
    ['[{"a":1},\n{"a":"\\ud83d"}]', 'x.json', /^Malformed JSON at byte \d+ of record 2: no low surrogate in string/],
    ['[{"a":1},\n{"a":2},\n{"a":tru}]', 'x.json', /^Malformed JSON at byte \d+ of record 3: invalid literal/],
    ['<html><body><table><tr><td>1</td></tr></table></body></html>', 'x.xls', /^The file is a web page or XML/],
    ['<!DOCTYPE html><p>1,2', 'x.csv', /^The file is a web page or XML/],
    ['<?xml version="1.0"?><Workbook/>', 'x.xls', /^The file is a web page or XML/],
    ['\n\n  \n', 'x.csv', /^The file has only blank lines$/],
    ['\ufeff\r\n', 'x.csv', /^The file has only blank lines$/],
    [utf16('id;name\n1;Łódź\n', false), 'x.csv', /without a byte order mark: set encoding to utf-16le$/],
    [utf16('id;name\n1;Łódź\n', true), 'x.csv', /without a byte order mark: set encoding to utf-16be$/],
  ])('%j as %s', async (content, name, message) => {
    expect(await refusal(content, name)).toMatch(message);
  });

  test.each<[string, object, RegExp]>([
    ['[{"a":1},]', { columns: [{ name: 'a', type: 'BIGINT' }] }, /of record 2: no value follows a comma/],
    ['[{"a":1},5]', { columns: [{ name: 'a', type: 'BIGINT' }] }, /^Record 2 of the file is not a JSON object/],
    ['{"rows":[[1]]}', { path: 'rows' }, /^Record 1 of the file is not a JSON object, but an array/],
  ])('%j with %j', async (content, config, message) => {
    await expect(readInProcess(content, config as Record<string, unknown>, 'x.json')).rejects.toThrow(message);
  });

  test.each<[string, number]>([
    ['Name   Amount  Date\nAnn        5  2024\nBob      105  2025\n', 1],
    ['Name   Amount\nAnn         \nBob      105\nEve       15\nJoe        1\nSue        2\n', 1],
    ['name\nAnn Lee\nBob Roe\nEve Doe\n', 0],
    ['note\nIt is  here\nNo it was not\nNobody knows it\n', 0],
    ['Name   Amount\nAnn        5\n', 0],
  ])('%j may have columns of fixed width', async (content, count) => {
    const message =
      'The lines are read as one column, but seem to have columns of fixed width, with blanks at the same positions. ' +
      'Write a delimiter between the values';
    expect((await readInProcess(content)).problems.filter((problem) => problem.message === message)).toHaveLength(
      count,
    );
  });

  test('a text of U+0000, or a key inside an object, is kept', async () => {
    const { rows } = await readInProcess('[{"c":"x\\u0000y","d":{"k\\u0000":1}}]', {}, 'x.json');
    expect(rows).toEqual([['x\0y', { 'k\0': 1 }]]);
  });

  test.each(['{"a":1,"b":"x"}\n', '[{"a":1}]', '{"a":1}\n{"a":2}\n'])('%j as x.csv may be JSON', async (content) => {
    const message = 'The file is read as CSV by its name, but its text is JSON. Set format to json or ndjson if it is';
    expect((await readInProcess(content)).problems).toContainEqual({ line: 1, message });
    expect((await readInProcess(content, { format: 'csv' })).problems).not.toContainEqual({ line: 1, message });
  });

  test('columns whose names differ in case alone are reported', async () => {
    const message =
      'Another column has the name "t", apart from upper and lower case, so this one is named "t_2". ' +
      'Change one of them in the file if that is wrong';
    const { config, problems } = await readInProcess('T,t\n1,2\n');
    expect(problems).toEqual([{ column: 't_2', message }]);
    expect((await readInProcess('T,t\n1,2\n', config)).problems).toEqual([]);
    expect((await readInProcess('T,,t\n1,2,3\n')).problems).toEqual([{ column: 't_2', message }]);
  });

  test('with the encoding UTF-16 without a mark is read, and escaped backslashes do not begin escapes', async () => {
    const content = utf16('id;name\n1;Łódź\n', true);
    expect((await readInProcess(content, { encoding: 'utf-16be' })).rows).toEqual([[1, 'Łódź']]);
    expect((await readInProcess('{"a":"\\\\ud83d"}\n{"a":"\\ud83d\\ude00"}\n', {}, 'x.ndjson')).rows).toEqual([
      [String.raw`\ud83d`],
      ['😀'],
    ]);
  });
});
