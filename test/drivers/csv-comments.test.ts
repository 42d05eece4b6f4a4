import { describe, expect, test } from 'vitest';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();

const one = (prefix: string) =>
  `1 line that begins with "${prefix}" and is not divided like the records is left out as a comment. ` +
  'Set comment to "" if it is a record';
const several = (prefix: string, lines: number) =>
  `${lines} lines that begin with "${prefix}" and are not divided like the records are left out as comments. ` +
  'Set comment to "" if they are records';

describe('lines that begin like comments and are divided like the records are records', () => {
  test.each<[string, string, unknown[][], { line: number; message: string }[]]>([
    [
      'numbers with # and a total',
      'ticket,hours\n#1001,5\n#1002,3\n#1003,2\n# total: 10\n',
      [
        ['#1001', 5],
        ['#1002', 3],
        ['#1003', 2],
      ],
      [{ line: 5, message: one('#') }],
    ],
    [
      'some names with # and a note',
      'channel,posts\n#general,120\n#random,80\n#help,45\nall channels,245\n# exported by bot\n',
      [
        ['#general', 120],
        ['#random', 80],
        ['#help', 45],
        ['all channels', 245],
      ],
      [{ line: 6, message: one('#') }],
    ],
    [
      'paths with //',
      'path,hits\n//cdn/a.js,5\n//cdn/b.js,7\n//moved\n/index,9\n',
      [
        ['//cdn/a.js', 5],
        ['//cdn/b.js', 7],
        ['/index', 9],
      ],
      [{ line: 4, message: one('//') }],
    ],
    [
      'values in quotes, over two lines',
      'tag,text\n#a,"x\ny"\n# one\n# two\n#b,"p, q"\nc,z\n',
      [
        ['#a', 'x\ny'],
        ['#b', 'p, q'],
        ['c', 'z'],
      ],
      [{ line: 4, message: several('#', 2) }],
    ],
    [
      'records above the first one without #',
      '#general,120\n#random,80\nall,245\n',
      [
        ['#general', 120],
        ['#random', 80],
        ['all', 245],
      ],
      [],
    ],
  ])('%s', async (_, content, rows, problems) => {
    const read = await readInProcess(content);
    expect(read.rows).toEqual(rows);
    expect(read.problems).toEqual(problems);
    const { columns: __, ...settings } = read.config;
    for (const config of [read.config, settings]) {
      const again = await readInProcess(content, config);
      expect(again.rows).toEqual(rows);
      expect(again.config).toEqual(read.config);
    }
  });

  test('the number of comments is the number in the whole file', async () => {
    const content = `id,n\n# first\n${'#1,2\n3,4\n# more\n'.repeat(300)}`;
    const { rows, problems, config } = await readInProcess(content);
    expect(rows).toHaveLength(600);
    expect(config).toMatchObject({ comment: '#', markedRecords: true });
    expect(problems).toContainEqual({ line: 2, message: several('#', 301) });
  });

  test('with a given beginning of comments, all lines that begin so are comments, unless markedRecords is set', async () => {
    const content = 'id,n\n#1,2\n# x\n3,4\n';
    expect((await readInProcess(content, { comment: '#' })).rows).toEqual([[3, 4]]);
    expect((await readInProcess(content, { comment: '#', markedRecords: true })).rows).toEqual([
      ['#1', 2],
      ['3', 4],
    ]);
  });
});

describe('one blank before a quote, and blanks after the closing one, do not belong to a value', () => {
  test.each([
    ['names', '"id", "name", "note"\n1, "Doe, Ann", "a ""b"""\n', ['id', 'name', 'note'], [[1, 'Doe, Ann', 'a "b"']]],
    ['blanks after quotes', '"id" , "name"\n1 , "Ann"\n', ['id', 'name'], [[1, 'Ann']]],
    [
      'line ends in quotes',
      '"id", "na\nme"\r\n1, "A\nB"\n2,c\n',
      ['id', 'na\nme'],
      [
        [1, 'A\nB'],
        [2, 'c'],
      ],
    ],
    ['blanks and no quotes', 'id, name\n1, Ann\n', ['id', ' name'], [[1, ' Ann']]],
    ['quotes inside of a value', 'id, the "x"\n1, an "A"\n', ['id', ' the "x"'], [[1, ' an "A"']]],
  ])('%s', async (_, content, names, rows) => {
    const { config, rows: found, problems } = await readInProcess(content);
    expect((config['columns'] as { name: string }[]).map(({ name }) => name)).toEqual(names);
    expect(found).toEqual(rows);
    expect(problems).toEqual([]);
  });
});
