import { afterAll, describe, expect, test } from 'vitest';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import { createNunjucksEngine } from '../../src/adapters/template-engine/nunjucks-engine.ts';
import { mistakesOf, renderText } from './engine-fixture.ts';

const sandbox = openSandbox();
const engine = createNunjucksEngine(sandbox);
afterAll(() => sandbox.close());

/** Returns the value of a DATA file as a template sees it. */
const valueOf = async (name: string, content: string | Uint8Array): Promise<unknown> =>
  JSON.parse(await renderText(engine, `{{ data["${name}"] | dump | safe }}`, { dataFiles: { [name]: content } }));

describe('a CSV file', () => {
  test.each<[string, string, unknown]>([
    ['with commas', 'a,b\n1,x y\n', [{ a: '1', b: 'x y' }]],
    ['with semicolons', 'a;b\n1,5;2', [{ a: '1,5', b: '2' }]],
    ['with tabs', 'a\tb\n1\t2', [{ a: '1', b: '2' }]],
    [
      'with a byte order mark and Windows line ends',
      '\uFEFFa,b\r\n1,2\r\n3,4\r\n',
      [
        { a: '1', b: '2' },
        { a: '3', b: '4' },
      ],
    ],
    ['with quotation marks', '"a;x",b\n"1 ""q""","x\ny"\n', [{ 'a;x': '1 "q"', b: 'x\ny' }]],
    [
      'with empty lines and missing fields',
      'a,b\n\n1\n,\n',
      [
        { a: '1', b: null },
        { a: '', b: '' },
      ],
    ],
    ['with one column', 'a\n1\n', [{ a: '1' }]],
    ['with a header alone', 'a,b', []],
    ['without content', '', []],
    ['with names of properties', '__proto__,constructor\n1,2', JSON.parse('[{"__proto__":"1","constructor":"2"}]')],
  ])('%s is a list of objects', async (_, text, expected) => {
    expect(await valueOf('a.csv', text)).toEqual(expected);
  });

  test('with 50,000 lines is a list of them', async () => {
    const text = `n,text\n${Array.from({ length: 50_000 }, (_, n) => `${n},"line ${n}"`).join('\n')}`;
    const template = '{{ data["a.csv"] | length }} {{ data["a.csv"][49999].text }}';
    expect(await renderText(engine, template, { dataFiles: { 'a.csv': text } })).toBe('50000 line 49999');
  });
});

test('a JSON file is its value, and another file its text', async () => {
  expect(await valueOf('a.json', '\uFEFF{"a": [1, {"b": null}]}')).toEqual({ a: [1, { b: null }] });
  expect(await valueOf('a.txt', 'a,b\n1')).toBe('a,b\n1');
});

test('a file that is not read may have mistakes', async () => {
  expect(await renderText(engine, 'a', { dataFiles: { 'a.json': '{' } })).toBe('a');
});

describe('a mistake names the file and its line:', () => {
  test.each<[string, string, string | Uint8Array, number | null, number | null, string]>([
    ['JSON', 'a.json', '{"a":\n  1,\n  b}', 3, 3, 'Expected double-quoted property name'],
    ['JSON that ends', 'a.json', '{"a":\n', 2, 1, 'Unexpected end of JSON input'],
    ['JSON without content', 'a.json', '', 1, 1, 'Unexpected end of JSON input'],
    [
      'a line that is too long',
      'a.csv',
      'a,b\n1,2\n"x\ny",2,3',
      3,
      null,
      'The line has 3 fields, but the header has 2',
    ],
    [
      'a line after one with a line break',
      'a.csv',
      'a,b\n"x\ny",2\n1,2,3',
      4,
      null,
      'The line has 3 fields, but the header has 2',
    ],
    ['an unclosed quotation mark', 'a.csv', 'a\r\n1\r\n"x\r\n', 3, null, 'The quotation mark is not closed'],
    ['text after a quotation mark', 'a.csv', 'a\n"x"y', 2, null, 'Text follows a closing quotation mark'],
    ['a column without name', 'a.csv', 'a,,b\n', 1, null, 'Column 2 has no name'],
    ['two columns of a name', 'a.csv', 'a,b,a\n', 1, null, 'Two columns have the name "a"'],
  ])('%s', async (_, path, content, line, column, message) => {
    const mistakes = await mistakesOf(engine, `{{ data["${path}"] }}`, { dataFiles: { [path]: content } });
    expect(mistakes).toEqual([{ path, message, line, column }]);
  });
});

test('a file that is too large for the memory ends the template alone', async () => {
  const text = `a\n${'1\n'.repeat(12_000_000)}`;
  const rendering = renderText(engine, '{{ data["a.csv"] | length }}', { dataFiles: { 'a.csv': text } });
  await expect(rendering).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
  expect(await renderText(engine, 'a')).toBe('a');
});
