import { describe, expect, test } from 'vitest';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();
const declare = (...types: (string | object)[]) => ({
  columns: types.map((type, i) => ({ name: 'ab'[i], ...(typeof type === 'string' ? { type } : type) })),
});

describe('declared types', () => {
  test.each<[string, string, object, number, string, string]>([
    ['a word', 'a,b\n1,2\nx,3\n', declare('BIGINT', 'BIGINT'), 3, 'a', '"x" is not a BIGINT'],
    ['the first of several', 'a,b\n1,y\nx,3\n', declare('BIGINT', 'BIGINT'), 2, 'b', '"y" is not a BIGINT'],
    ['a fraction', 'a,b\n1,"2\n"\n\n2,3.5\n', declare('BIGINT', 'BIGINT'), 5, 'b', '"3.5" is not a BIGINT'],
    ['decimals', 'a,b\n1,2\n2,3.55\n', declare('BIGINT', 'DECIMAL(3,1)'), 3, 'b', '"3.55" is not a DECIMAL(3,1)'],
    [
      'a time of day',
      'a,b\r\n1,2024-01-01\r\n2,2024-01-01 10:00\r\n',
      declare('BIGINT', 'DATE'),
      3,
      'b',
      '"2024-01-01 10:00"',
    ],
    ['a blank', 'a,b\n1,\n2, \n', declare('BIGINT', 'BIGINT'), 3, 'b', '" " is not a BIGINT'],
    ['a blank line above', '\na\n1\n\nx\n', declare('BIGINT'), 5, 'a', '"x" is not a BIGINT'],
    ['another separator', 'a;b\n1;1,5\n2;2.5\n', declare('BIGINT', { type: 'DOUBLE', decimal: ',' }), 3, 'b', '"2.5"'],
    ['lines left out', 'Title\n\na,b\n1,2\n3,x\n', declare('BIGINT', 'BIGINT'), 5, 'b', '"x" is not a BIGINT'],
  ])('%s that does not fit is named with its line', async (_, content, given, line, column, value) => {
    await expect(readInProcess(content, given as Record<string, unknown>)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(`Line ${line} of the file, column "${column}": ${value}`) as string,
    });
  });

  test('values that fit are read', async () => {
    const columns = declare({ type: 'BIGINT', nullValues: ['NA'], trim: true }, { type: 'DECIMAL(3,1)' });
    expect(await readInProcess('a,b\n NA ,1.50\n2 ,\n\u00a03,2e0\n', columns)).toMatchObject({
      rows: [
        [null, 1.5],
        [2, null],
        [3, 2],
      ],
    });
  });
});
