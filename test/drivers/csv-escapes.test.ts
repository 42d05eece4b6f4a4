import { describe, expect, test } from 'vitest';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();

const kept = (line: number, records = 1) => ({
  line,
  message:
    `${records === 1 ? '1 record has' : `${records} records have`} values in quotes with \\ before other characters than a ` +
    'quote, e.g. \\n: both characters are kept. If they stand for another one, replace them in the file or by a query',
});

/** Values in the file, as they are read, and whether a backslash stays that escapes nothing. */
const VALUES: [title: string, value: string, read: string, isKept: boolean][] = [
  ['a quote', String.raw`"say \"hi\""`, 'say "hi"', false],
  ['a path', String.raw`"C:\new, x"`, String.raw`C:\new, x`, true],
  ['a path with an escaped quote', String.raw`"C:\dir \"x\""`, String.raw`C:\dir "x"`, true],
  ['a regular expression', String.raw`"\d+,\w*"`, String.raw`\d+,\w*`, true],
  ['LaTeX', String.raw`"\frac{a}{b}"`, String.raw`\frac{a}{b}`, true],
  ['escapes of JSON', String.raw`"\u00e9\/x"`, String.raw`\u00e9\/x`, true],
  ['a percent sign', String.raw`"50\% off"`, String.raw`50\% off`, true],
  ['a line feed of MySQL', String.raw`"a\nb"`, String.raw`a\nb`, true],
  ['NULL of MySQL in quotes', String.raw`"\N"`, String.raw`\N`, true],
  ['a UNC path', String.raw`"\\srv\share, x"`, String.raw`\\srv\share, x`, true],
  ['two backslashes before the last quote', String.raw`"C:\\"`, 'C:\\', false],
  ['four backslashes before the last quote', String.raw`"C:\\\\"`, 'C:\\\\', false],
  ['a backslash before an escaped quote', String.raw`"a\\\"b"`, String.raw`a\"b`, false],
  ['line ends', '"a\r\nb \\"c\\"\nd"', 'a\r\nb "c"\nd', false],
  ['doubled quotes', '"a ""b"", c"', 'a "b", c', false],
  ['doubled and escaped quotes', String.raw`"a ""b"", \"c\""`, 'a "b", "c"', false],
  ['no quotes', String.raw`C:\new`, String.raw`C:\new`, false],
];

describe.each([
  ['recognised', {}],
  ['given', { escape: '\\' }],
])('a backslash before quotes, %s', (_, config) => {
  test.each(VALUES)('%s: %j', async (_title, value, read, isKept) => {
    const { rows, problems } = await readInProcess(`id,x,n\n1,"an \\"x\\", y",5\n2,${value},6\n`, config);
    expect(rows).toEqual([
      [1, 'an "x", y', 5],
      [2, read, 6],
    ]);
    expect(problems).toEqual(isKept ? [kept(3)] : []);
  });
});

test('one escaped quote late in a long file changes no other value, and all records are counted', async () => {
  // Longer than a piece in which files are read: backslashes stand at the end of some pieces.
  const values = Array.from({ length: 900 }, (_, n) => `C:\\new${n}, ${'\\x'.repeat(900)}`);
  const lines = values.map((value, n) => `${n},"${value}"`);
  const { rows, problems } = await readInProcess(`id,x\n${lines.join('\n')}\n900,"say \\"hi\\""\n`, { escape: '\\' });
  expect(rows).toEqual([...values.map((value, n) => [n, value]), [900, 'say "hi"']]);
  expect(problems).toEqual([kept(2, 900)]);
});

test.each([0, 1, 2, 3])('escapes are read across the end of a piece of a file, %i bytes after it', async (shift) => {
  const filler = 'x'.repeat((1 << 20) - 'id,x\n1,"'.length - 2 + shift);
  const lines = ['id,x', String.raw`1,"${filler}\\\"y, \"z\""`, String.raw`2,"\\"`, ''];
  const { rows } = await readInProcess(lines.join('\n'), { escape: '\\' });
  expect(rows.map(([id, x]) => [id, String(x).replace(filler, '…')])).toEqual([
    [1, String.raw`…\"y, "z"`],
    [2, '\\'],
  ]);
});

test.each(['plain', String.raw`C:\x`])(
  'doubled quotes are read with the escape character too, above %s',
  async (other) => {
    const { rows } = await readInProcess(`id,x\n1,"a ""b"""\n2,${other}\n`, { escape: '\\' });
    expect(rows).toEqual([
      [1, 'a "b"'],
      [2, other],
    ]);
  },
);

test('a file without escaped quotes keeps its backslashes without a problem', async () => {
  const { rows, problems } = await readInProcess('id,x\n1,"C:\\dir\\"\n2,"a ""b"" \\n"\n');
  expect(rows).toEqual([
    [1, 'C:\\dir\\'],
    [2, 'a "b" \\n'],
  ]);
  expect(problems).toEqual([]);
});
