import { describe, expect, test } from 'vitest';
import { sniffCsv } from '../../src/adapters/drivers/file/csv-dialect.ts';

/** Small files, the delimiter and the number of columns that are right. */
const CERTAIN: [text: string, delimiter: string, width: number][] = [
  // Texts and numbers that contain commas, divided otherwise.
  ['Name, Vorname;Betrag\nMüller, Ann;5\nMaier, Bob;7\n', ';', 2],
  ['1,5;2,5\n3,5;4,5\n5,25;6,75\n', ';', 2],
  ['Ann;1,5\nBob;2,5\nCid;3,25\n', ';', 2],
  ['Last, First\tAmount\nDoe, Ann\t5\nRoe, Bob\t7\n', '\t', 2],
  ['Wert, EUR;Wert, USD\n1,5;2,5\n3,5;4,5\n', ';', 2],
  ['12,50;3,00;1,25\n7,25;1,50;2,75\n', ';', 3],
  ['1,5|2,5|x\n3,5|4,5|y\n', '|', 3],
  ['1,5\t2,5\n3,5\t4,5\n', '\t', 2],
  ['-1,5;+2,5\n-3,5;+4,5\n', ';', 2],
  ['1.234,50;x\n2.345,75;y\n', ';', 2],
  ["1'234,50;x\n2'345,75;y\n", ';', 2],
  ['1 234,50;Ann\n2 345,75;Bob\n', ';', 2],
  ['€ 1,50;Ann\n€ 2,50;Bob\n', ';', 2],
  ['1,50 €;Ann\n2,50 €;Bob\n', ';', 2],
  ['12,5%;Ann\n7,5%;Bob\n', ';', 2],
  ['12,5 kg;Ann\n7,5 kg;Bob\n', ';', 2],
  [',5;Ann\n,25;Bob\n', ';', 2],
  ['1,234;Ann\n2,345;Bob\n', ';', 2],
  ['1,234,567;Ann\n2,345,678;Bob\n', ';', 2],
  ['2024-01-31 10:00:00,123|INFO|start\n2024-01-31 10:00:01,456|INFO|end\n', '|', 3],
  ['10:00:00,5;Ann\n10:00:01,5;Bob\n', ';', 2],
  ['01.02.2024;1,5\n02.02.2024;2,5\n', ';', 2],
  ['Rome, Italy|5|x\nOslo, Norway|7|y\n', '|', 3],
  ['id;Ort, Land\n1;Rome, Italy\n2;Oslo, Norway\n', ';', 2],
  ['id;Ort, Land;Wert\n1;Rome, Italy;1,5\n2;Oslo, Norway;2\n', ';', 3],
  ['id\tOrt, Land, Region\n1\tRome, Italy, Lazio\n2\tOslo, Norway, Oslo\n', '\t', 2],
  ['Doe, Ann;Main St, Rome\nRoe, Bob;High St, Oslo\n', ';', 2],
  ['"Doe, Ann";"1,5"\n"Roe, Bob";"2,5"\n', ';', 2],
  ['"Doe, Ann";1,5\n"Roe, Bob";2,5\n', ';', 2],
  ['Doe, Ann;"1,5"\nRoe, Bob;"2,5"\n', ';', 2],
  ['"a,b"|"c,d"\n"e,f"|"g,h"\n', '|', 2],
  ['"a,b"\t"c;d"\n"e,f"\t"g;h"\n', '\t', 2],
  ['Doe, Ann;5\r\nRoe, Bob;7\r\n', ';', 2],
  ['Doe, Ann;5', ';', 2],
  ['Report\n\nName, Vorname;Betrag\nMüller, Ann;5\nMaier, Bob;7\n', ';', 2],
  ['1,5;;2,5;x\n3,5;;4,5;y\n', ';', 4],
  ['Doe, Ann;\nRoe, Bob;\n', ';', 2],
  ['Name, Vorname;Betrag, EUR;Ort, Land\nDoe, Ann;1,5;Rome, IT\nRoe, Bob;2,5;Oslo, NO\n', ';', 3],
  ['name;price;size\nA, b;1,5;2\nC, d;2,5;3\n', ';', 3],
  ['x;y\n1;2\n', ';', 2],
  ['x|y\n1|2\n', '|', 2],
  ['x\ty\n1\t2\n', '\t', 2],
  // Commas, and other delimiters in texts.
  ['id,tags\n1,a;b\n2,c;d\n', ',', 2],
  ['id,tags\n1,a|b\n2,c|d\n', ',', 2],
  ['id,tags\n1,a;b;c\n2,d;e;f\n', ',', 2],
  ['name,tags\nAnn,a;b;c\nBob,d;e;f\n', ',', 2],
  ['name,tags\nAnn,a|b|c\nBob,d|e|f\n', ',', 2],
  ['1,a;b\n2,c;d\n', ',', 2],
  ['1,a|b\n2,c|d\n', ',', 2],
  ['1,Ann,a;b\n2,Bob,c;d\n', ',', 3],
  ['1, Ann, a;b\n2, Bob, c;d\n', ',', 3],
  ['1, Ann, a | b\n2, Bob, c | d\n', ',', 3],
  ['2024-01-31,open; late\n2024-02-01,done; late\n', ',', 2],
  ['id,"a;b"\n1,"c;d"\n2,"e;f"\n', ',', 2],
  ['"a;b","c;d"\n"e;f","g;h"\n', ',', 2],
  ['"a|b","c|d"\n"e|f","g|h"\n', ',', 2],
  ['1,2,x;y,z\n3,4,v;w,z\n', ',', 4],
  ['id,name &amp; more\n1,a &lt; b\n2,c &gt; d\n', ',', 2],
  ['5,Caf&eacute;\n6,Th&eacute;\n', ',', 2],
  ['id,\tname\n1,\tAnn\n2,\tBob\n', ',', 2],
  ['a,b;c,d\n1,x;y,2\n3,v;w,4\n', ',', 3],
  ['q,code\n1,int a;\n2,int b;\n', ',', 2],
  ['1,true,a;b\n2,false,c;d\n', ',', 3],
  ['1.5,2.5,a|b\n3.5,4.5,c|d\n', ',', 3],
  ['id,path\n1,/a;v=1\n2,/b;v=2\n', ',', 2],
  // Other delimiters, and lists in texts.
  ['1;a,b\n2;c,d\n', ';', 2],
  ['1|a;b\n2|c;d\n', '|', 2],
  ['1\ta,b\n2\tc,d\n', '\t', 2],
  ['1;a|b\n2;c|d\n', ';', 2],
  ['1\ta|b;c\n2\td|e;f\n', '\t', 2],
  ['id;list\n1;a,b,c\n2;d,e,f\n', ';', 2],
];

/** Files that two delimiters divide as well: the one that is chosen, and the other one. */
const DOUBTFUL: [text: string, delimiter: string, other: string][] = [
  ['x,a;b\ny,c;d\n', 'comma', 'semicolon'],
  ['x,a|b\ny,c|d\n', 'comma', 'pipe'],
  ['d, e; f\ng, h; i\n', 'comma', 'semicolon'],
  ['Rome,59.9;10.7\nOslo,41.9;12.5\n', 'comma', 'semicolon'],
  ['city;lat,lon\nRome;41.9,12.5\nOslo;59.9,10.7\n', 'semicolon', 'comma'],
  ['a,b|c\n1,2|3\n4,5|6\n', 'pipe', 'comma'],
  ['Doe, Ann;5\nRoe, Bob;7\nPoe, Cy;8;9\nZoe, Di;4\nLoe, Ed;3\n', 'comma', 'semicolon'],
];

describe('the delimiter of a file that several divide', () => {
  test.each(CERTAIN)('%j is divided by %j', (text, delimiter, width) => {
    const [found] = sniffCsv(text, true);
    expect({ delimiter: found!.delimiter, width: found!.names.length }).toEqual({ delimiter, width });
    expect(found!.problems.map(({ message }) => message).filter((message) => message.includes('delimiter'))).toEqual(
      [],
    );
  });

  test.each(DOUBTFUL)('%j is divided by a %s, which is reported', (text, chosen, other) => {
    const message =
      `The values are read as divided by a ${chosen}, but a ${other} could divide them as well. ` +
      'Set delimiter if the columns are wrong';
    const [found] = sniffCsv(text, true);
    expect(found!.problems).toContainEqual({ line: 1, message });
    expect(sniffCsv(text, true, { delimiter: found!.delimiter })[0]!.problems).not.toContainEqual({ line: 1, message });
  });

  test.each([
    ['a~|~b\n1~|~2\n', '~|~'],
    ['a~|b\n1~|2\n', '~|'],
    ['a|;b|;c\n1|;2|;3\n', '|;'],
    ['a,;b\n1,;2\n', ',;'],
  ])('%j has a delimiter of several characters', (text, delimiter) => {
    const message =
      `The values seem to be divided by ${JSON.stringify(delimiter)}, but a delimiter has one character. ` +
      'Replace it in the file';
    expect(sniffCsv(text, true)[0]!.problems).toContainEqual({ line: 1, message });
  });

  test('a sign that some values lack is not a delimiter', () => {
    expect(sniffCsv('a~|~b\n1|2\n', true)[0]!.problems).toEqual([]);
    expect(sniffCsv('a|~b\n', true)[0]!.problems).toEqual([]);
  });
});
