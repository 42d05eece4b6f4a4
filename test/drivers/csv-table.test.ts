import { describe, expect, test } from 'vitest';
import { sniffCsv } from '../../src/adapters/drivers/file/csv-dialect.ts';

const LEFT_OUT = /^The lines before the table are left out/;
const ONE_COLUMN = /^The lines are read as one column, but most have/;

const LONG = /^The values seem to be divided by "(\|~\||\|\||;;|::|\^\^)", but a delimiter has one character/;
const ODD =
  /^The lines are read as one column, but each has "(~|¦)" (once|2 times)\. Set delimiter if it divides values$/;

describe('delimiters that are not usual', () => {
  test.each<[string, string, object, RegExp[]]>([
    ['unit separators', 'id\x1fname\n1\x1fAnn, Bob\n', { delimiter: '\x1f', names: ['id', 'name'] }, []],
    ['circumflexes', 'id^name\n1^Ann\n2^Bob\n', { delimiter: '^', names: ['id', 'name'] }, []],
    ['tildes with commas in texts', 'id~name\n1~Ann, x\n2~Bob, y\n', { delimiter: '~', names: ['id', 'name'] }, []],
    ['commas with circumflexes in texts', 'unit,x^2\nm^2,5^2\n', { delimiter: ',', names: ['unit', 'x^2'] }, []],
    ['circumflexes in some lines', 'formula\nx^2\ny\n', { names: ['formula'] }, []],
    ['a tilde before each path', '~/names\n~/b\n~/c\n', { names: ['~/names'] }, [ODD]],
    ['broken bars', 'id¦name¦x\n1¦Ann¦2\n', { names: ['id¦name¦x'] }, [ODD]],
    ['one line', 'a¦b\n', { names: ['a¦b'] }, []],
    ['several characters', 'id|~|name\n1|~|Ann\n', { delimiter: '|', names: ['id', '~', 'name'] }, [LONG]],
    ['two pipes', 'id||name||x\n1||Ann||2\n', { delimiter: '|' }, [LONG]],
    ['two semicolons', 'id;;name\n1;;Ann\n', { delimiter: ';' }, [LONG]],
    ['two colons', 'id::name\n1::Ann\n', { names: ['id::name'] }, [LONG]],
    ['two circumflexes', 'id^^name\n1^^Ann\n', { names: ['id^^name'] }, [LONG]],
    ['an empty column', 'id,,name\n1,,Ann\n', { delimiter: ',', names: ['id', 'column_2', 'name'] }, []],
    ['addresses', 'https://a.example/x\nhttps://b.example/y\n', {}, [/^The first record is read as the names/]],
  ])('%s', (_, text, expected, problems) => {
    const [found] = sniffCsv(text, true);
    expect(found).toMatchObject(expected);
    expect(found!.problems.map(({ message }) => message)).toEqual(
      problems.map((message) => expect.stringMatching(message) as string),
    );
  });

  test('a delimiter that is given has no doubt', () => {
    expect(sniffCsv('id|~|name\n1|~|Ann\n', true, { delimiter: '|' })[0]!.problems).toEqual([]);
    expect(sniffCsv('id¦name\n1¦Ann\n', true, { delimiter: '¦' })[0]).toMatchObject({
      names: ['id', 'name'],
      problems: [],
    });
    expect(sniffCsv('id~name\n1~Ann\n', true, { delimiter: ',' })[0]).toMatchObject({
      names: ['id~name'],
      problems: [],
    });
  });
});

describe('the table below other lines', () => {
  test.each<[string, string, object, RegExp[]]>([
    ['sep= and semicolons', 'sep=;\r\nid;price\r\n1;1,50\r\n', { delimiter: ';', skip: 1, names: ['id', 'price'] }, []],
    ['sep= and a comma', 'sep=,\nid,name\n1,Ann\n', { delimiter: ',', skip: 1 }, []],
    ['SEP= and a tab', 'SEP=\t\nid\tname\n1\tAnn\n', { delimiter: '\t', skip: 1 }, []],
    ['sep= in quotes, saved again', '"sep=;"\nid;a,b\n1;2\n', { delimiter: ';', skip: 1, names: ['id', 'a,b'] }, []],
    [
      'sep= and an unusual delimiter',
      'sep=^\nid^name\n1^Ann\n',
      { delimiter: '^', skip: 1, names: ['id', 'name'] },
      [],
    ],
    ['sep= above a title', 'sep=,\nReport\n\nid,a\n1,2\n', { skip: 3, names: ['id', 'a'] }, [LEFT_OUT]],
    ['a title and a blank line', 'Sales report\n\nid,amount\n1,2\n3,4\n', { skip: 2, header: true }, [LEFT_OUT]],
    ['a title alone', 'Sales report\nid,amount\n1,2\n3,4\n', { skip: 1, names: ['id', 'amount'] }, [LEFT_OUT]],
    [
      'notes with commas and a blank line',
      'Report, 2024\nNorth, South, West, East\n\nid,a,b\n1,2,3\n',
      { skip: 3, names: ['id', 'a', 'b'] },
      [LEFT_OUT],
    ],
    ['CRLF', 'Report\r\n\r\nid,amount\r\n1,2\r\n', { skip: 2, names: ['id', 'amount'] }, [LEFT_OUT]],
    ['a quoted title of two lines', '"Sales\nreport"\n\nid,amount\n1,2\n', { skip: 3 }, [LEFT_OUT]],
    ['comments', '# made by x\n# on 2024-01-01, at 5\nid,amount\n1,2\n', { skip: 2, header: true }, [LEFT_OUT]],
    ['comments of two slashes', '// made, by, x\nid;amount\n1;2\n', { skip: 1, delimiter: ';' }, [LEFT_OUT]],
    ['names that begin with #', '#id,name\n1,Ann\n2,Bob\n', { skip: 0, names: ['#id', 'name'] }, []],
    ['comments and names with #', '##by x\n#id,amount\na,2\nb,4\n', { skip: 1, names: ['#id', 'amount'] }, [LEFT_OUT]],
    ['# in values', 'tag,n\n#a,1\n#b,2\n', { skip: 0, names: ['tag', 'n'] }, []],
    ['one column of #', 'tag\n#a\n#b c\n', { skip: 0, names: ['tag'] }, []],
    ['a title as wide as the table', 'Report,,\n,,\nid,a,b\n1,2,3\n', { skip: 2, names: ['id', 'a', 'b'] }, [LEFT_OUT]],
    ['a first name that is blank', ',a,b\nx,1,2\ny,3,4\n', { skip: 0, names: ['column_1', 'a', 'b'] }, []],
    ['blank lines', '\n\nid,a\n1,2\n', { skip: 2, names: ['id', 'a'] }, []],
    ['decimal commas', 'id;price\n1;1,50\n2;2,75\n', { skip: 0, delimiter: ';', names: ['id', 'price'] }, []],
    [
      'a title above decimal commas',
      'Preise\n\nid;price\n1;1,50\n2;2,75\n',
      { skip: 2, delimiter: ';', names: ['id', 'price'] },
      [LEFT_OUT],
    ],
    ['a record that is too long', 'a,b\n1,2\n1,2,3\n4,5\n', { skip: 0, names: ['a', 'b'] }, []],
    ['names that are too few', 'a,b\n1,2,3\n4,5,6\n', { skip: 0, names: ['a', 'b'] }, []],
    ['prose', 'text\nhello, world\nbye\n', { skip: 0, names: ['text'] }, []],
    ['prose with a comma in most lines', 'text\nhello, you\nbye, me\nso, so\nwell, now\n', { skip: 0 }, [ONE_COLUMN]],
  ])('%s', (_, text, expected, problems) => {
    const [found] = sniffCsv(text, true);
    expect(found).toMatchObject(expected);
    expect(found!.problems).toHaveLength(problems.length);
    for (const [i, message] of problems.entries()) expect(found!.problems[i]!.message).toMatch(message);
  });

  test('comments between the records are recognised, and the setting decides', () => {
    const text = 'id,amount\n# first\n1,2\n# second, and more, so\n3,4\n';
    const recognised = { comment: '#', markedRecords: true, skip: 0, names: ['id', 'amount'], problems: [] };
    expect(sniffCsv(text, true)[0]).toMatchObject(recognised);
    const [given] = sniffCsv(text, true, { comment: '#' });
    expect(given).toMatchObject({ comment: '#', names: ['id', 'amount'], problems: [] });
    expect(given!.markedRecords).toBeUndefined();
    expect(sniffCsv(text, true, { comment: '' })[0]).toMatchObject({ comment: '' });
    expect(sniffCsv('a,b\n%x\n1,2\n', true, { comment: '%' })[0]).toMatchObject({ names: ['a', 'b'], header: true });
  });

  test('settings precede what is recognised', () => {
    expect(sniffCsv('sep=;\na;b\n', true, { skip: 0 })[0]).toMatchObject({ skip: 0, names: ['sep=', 'column_2'] });
    expect(sniffCsv('sep=;\na,b\n1,2\n', true, { delimiter: ',' })[0]).toMatchObject({ skip: 1, names: ['a', 'b'] });
    expect(sniffCsv('Title\n\na,b\n1,2\n', true, { skip: 0 })[0]).toMatchObject({ skip: 0, header: true });
  });
});
