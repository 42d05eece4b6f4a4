import { afterAll, describe, expect, test } from 'vitest';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import { createDocxEngine } from '../../src/adapters/template-engine/docx-engine.ts';
import { docxOf, paragraphsOf, WORD } from './docx-fixture.ts';
import { checkTaskOf, mistakesOf, renderTaskOf, type TaskOptions } from './engine-fixture.ts';

const sandbox = openSandbox();
const engine = createDocxEngine(sandbox);
afterAll(() => sandbox.close());

const renderFile = async (content: Uint8Array, options: TaskOptions): Promise<string[]> =>
  paragraphsOf((await engine.render(renderTaskOf({ 'main.docx': content }, { handler: 'docx', ...options }))).content);
const render = async (text: string, data: TaskOptions['data'], settings = {}): Promise<string> =>
  (await renderFile(docxOf([text]), { data, settings })).join('¶');

describe('a name refers to the innermost loop that has it', () => {
  const rows = {
    title: 'Outer',
    remark: 'sea view',
    now: '2024-03-09T00:00:00Z',
    a: { b: 'outer b', c: 'outer c' },
    rows: [{ title: 'Room', remark: null, now: null, a: null, lines: [{ title: null }, { title: 'Bed' }] }],
    list: [null, 0, 'x'],
    all: [[[null]]],
  };
  test.for([{ strict: false }, { strict: true }])('strict: $strict', async (settings) => {
    const expected: [text: string, shown: string][] = [
      ['{#rows}{title}, {remark}{/}', 'Room, '],
      ['{#rows}{#lines}[{title}|{remark}]{/}{/}', '[|][Bed|]'],
      ['{#rows}[{now}]{now | date("yyyy")}{/}', '[]'],
      ['{#rows}{#remark}yes{/}{^remark}no{/}{/}', 'no'],
      ['{#rows}{#lines}{#title}yes{/}{^title}no{/}{/}{/}', 'noyes'],
      ['{#rows}{remark | default("none")}{title | default("none")}{/}', 'noneRoom'],
      ['{#rows}{#lines}{remark | upper}{title | upper}{a | default("none")},{/}{/}', 'none,BEDnone,'],
      ['{#list}({.}){/}', '()(0)(x)'],
      ['{#all}{#.}{#.}({.}){/}{/}{/}', '()'],
    ];
    for (const [text, shown] of expected) expect([text, await render(text, rows, settings)]).toEqual([text, shown]);
  });

  test('even if its value has no such key', async () => {
    expect(await render('{#rows}[{a.b}]{/}', rows)).toBe('[]');
    const options = { data: rows, settings: { strict: true } };
    const found = await mistakesOf(
      engine,
      { 'main.docx': docxOf(['{#rows}{a.b}{/}']) },
      { handler: 'docx', ...options },
    );
    expect(found.map(({ message }) => message)).toEqual(['Unknown name a.b']);
  });
});

describe('values of any characters are documents that Word reads', () => {
  test.each<[string, string, string]>([
    ['line breaks', 'a\r\nb\rc\nd', 'a|b|c|d'],
    ['a vertical tab, which is a soft line break of Word', 'a\vb', 'a|b'],
    ['tabs', 'a\tb', 'a\tb'],
    ['lone surrogates', 'a\ud800b\udc00', 'a\ufffdb\ufffd'],
    ['signs of XML', '</w:t>&<!-- "\'', '</w:t>&<!-- "\''],
    ['pairs of surrogates', '😀', '😀'],
  ])('%s', async (_, value, shown) => {
    expect(await render('{x}', { x: value })).toBe(shown);
    expect(await render('{#list}{.}{/}', { list: [value] })).toBe(shown);
  });

  test('without those that XML cannot contain', async () => {
    const excluded = [...Array.from({ length: 32 }, (_, code) => code), 0xfffe, 0xffff]
      .filter((code) => ![9, 10, 11, 13].includes(code))
      .map((code) => String.fromCharCode(code));
    expect(await render('{x}', { x: excluded.map((character) => `a${character}`).join('') })).toBe('a'.repeat(30));
  });
});

describe('loops', () => {
  const run = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`;
  const paragraph = (...runs: string[]) => `<w:p>${runs.join('')}</w:p>`;
  const cell = (text: string) => `<w:tc>${paragraph(run(text))}</w:tc>`;
  const within = (name: string, text: string) => `<w:${name}>${run(text)}</w:${name}>`;
  const documentOf = (body: string) =>
    docxOf([], { 'word/document.xml': `<w:document xmlns:w="${WORD}"><w:body>${body}</w:body></w:document>` });
  const IN_DIFFERENT_ELEMENTS = 'The loop "rows" begins and ends in different elements, such as a link or a cell';

  test.each<[string, string, string?]>([
    ['a link', paragraph(within('hyperlink', '{#rows}a'), run('b{/}'))],
    ['a tracked insertion', paragraph(run('{#rows}a'), within('ins', 'b{/}'))],
    ['a tracked deletion', paragraph(within('del', '{#rows}a'), run('b{/}'))],
    ['a field', paragraph(within('fldSimple', '{^rows}a'), run('{/}'))],
    ['a smart tag', paragraph(within('smartTag', '{#rows}a'), run('{/}'))],
    ['a cell of a table', `<w:tbl><w:tr>${cell('{#rows}')}</w:tr></w:tbl>${paragraph(run('{/}'))}`],
    [
      'a content control',
      paragraph(`<w:sdt><w:sdtContent>${run('{#rows}')}</w:sdtContent></w:sdt>`, run('{/}')),
      'The tags "rows" are misplaced in the document, for example one of them is in a table and the other one outside the table',
    ],
  ])(
    'that begin or end in %s alone are mistakes, with rows or without',
    async (_, body, message = IN_DIFFERENT_ELEMENTS) => {
      const files = { 'main.docx': documentOf(body) };
      for (const data of [{}, { rows: [] }, { rows: [{}, {}] }])
        expect((await mistakesOf(engine, files, { handler: 'docx', data })).map((found) => found.message)).toEqual([
          message,
        ]);
      const [checked] = await engine.check(checkTaskOf(files, { handler: 'docx' }));
      expect(checked).toMatchObject({ path: 'main.docx', message });
    },
  );

  test.each<[string, string, string[]]>([
    ['two runs', paragraph(run('{#rows}a'), run('{.}{/}b')), ['a1a2b']],
    ['two paragraphs', paragraph(run('x{#rows}a')) + paragraph(run('{.}{/}b')), ['xa', '1a', '2b']],
    ['one link', paragraph(within('hyperlink', '{#rows}{.}{/}')), ['12']],
    ['a row of a table', `<w:tbl><w:tr>${cell('{#rows}{.}')}${cell('x{/}')}</w:tr></w:tbl>`, ['1', 'x', '2', 'x', '']],
    ['links of one kind', paragraph(within('hyperlink', '{#rows}a'), within('hyperlink', '{.}{/}')), ['a1a2']],
  ])('that begin and end in %s are repeated', async (_, body, expected) => {
    expect(await renderFile(documentOf(body), { data: { rows: [1, 2] } })).toEqual(expected);
    expect((await renderFile(documentOf(body), { data: { rows: [] } })).join('')).toMatch(/^x?b?$/);
  });
});

test('a tag does not insert XML', async () => {
  const files = { 'main.docx': docxOf(['{@x}']) };
  const found = await mistakesOf(engine, files, { handler: 'docx', data: { x: '<w:p/>' } });
  expect(found.map(({ message }) => message)).toEqual(['"@x" is not the name of a value']);
});
