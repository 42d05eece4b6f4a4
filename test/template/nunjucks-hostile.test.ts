import { afterAll, describe, expect, test } from 'vitest';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import { createNunjucksEngine } from '../../src/adapters/template-engine/nunjucks-engine.ts';
import { mistakesOf, quickEngine, renderText } from './engine-fixture.ts';

const sandbox = openSandbox();
const engine = createNunjucksEngine(sandbox);
afterAll(() => sandbox.close());

const expectNextRender = async () => expect(await renderText(engine, '{{ 6 * 7 }}')).toBe('42');

test.each([
  ['includes itself', { 'main.njk': 'a{% include "main.njk" %}' }],
  ['includes itself by another one', { 'main.njk': '{% include "b.njk" %}', 'b.njk': '{% include "main.njk" %}' }],
  ['extends itself', { 'main.njk': '{% extends "main.njk" %}' }],
  ['calls its macro without end', { 'main.njk': '{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}' }],
  ['nests too deeply', { 'main.njk': '('.repeat(1).concat('{{ ', '('.repeat(20_000), '1', ')'.repeat(20_000), ' }}') }],
])('a template that %s has a mistake, and the next one renders', async (_, files) => {
  const [mistake] = await mistakesOf(engine, files);
  expect(mistake!.message).toBe('The templates include or call each other without end');
  await expectNextRender();
});

test.each([
  ['loops without end', '{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}'],
  [
    'matches a slow expression',
    '{% set r = r/^(a+)+$/ %}{{ r.test("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!") }}',
  ],
  ['loops in a function', `{{ ''.constructor.constructor('for (;;);')() }}`],
  ['returns what never ends', `{{ ''.constructor.constructor('Promise.prototype.constructor = null; for (;;);')() }}`],
])('a template that %s ends with TIMEOUT, and the next one renders', async (_, text) => {
  await expect(renderText(quickEngine(sandbox), text)).rejects.toMatchObject({
    status: 504,
    code: 'TIMEOUT',
    message: 'The template takes longer than 1 seconds',
  });
  await expectNextRender();
});

test.each([
  ['lists too much', '{{ range(1000000000) | length }}'],
  [
    'keeps all text',
    '{% set x = "a" %}{% for i in range(40) %}{% set x = x ~ x ~ i %}{% endfor %}{{ x | upper | length }}',
  ],
  [
    'fills memory',
    `{{ ''.constructor.constructor('const a = []; for (;;) a.push(new Array(1000).fill(a.length))')() }}`,
  ],
])('a template that %s ends with UPSTREAM_FAILED, and the next one renders', async (_, text) => {
  await expect(renderText(engine, text)).rejects.toMatchObject({
    status: 500,
    code: 'UPSTREAM_FAILED',
    message: 'The template needs more than 256 MB of memory',
  });
  await expectNextRender();
});

describe('output', () => {
  const of = (bytes: number) => `{% for i in range(${bytes / 1000}) %}${'x'.repeat(1000)}{% endfor %}`;

  test('of 40 MB is returned', async () => {
    expect(await renderText(engine, of(40_000_000))).toHaveLength(40_000_000);
  });

  test.each([
    ['html', 51_000_000, 'The output has more than 50 MB'],
    ['pdf', 5_100_000, 'The HTML of the PDF has more than 5 MB'],
  ])('of %s that is too large ends with 413, and the next one renders', async (handler, bytes, message) => {
    await expect(renderText(engine, of(bytes), { handler })).rejects.toMatchObject({ status: 413, message });
    await expectNextRender();
  });
});

test.each([
  ['process', `{{ ''.constructor.constructor('return typeof process')() }}`, 'undefined'],
  ['require', `{{ ''.constructor.constructor('return typeof require')() }}`, 'undefined'],
  ['the main module', `{{ range.constructor("return typeof global + typeof this.process")() }}`, 'undefinedundefined'],
  ['the host', `{{ asset.constructor("return typeof host")() }}`, 'undefined'],
  ['the prototype of objects', `{{ {}.__proto__.polluted }}`, ''],
])('a template does not reach %s', async (_, text, expected) => {
  expect(await renderText(engine, text)).toBe(expected);
});

test('a template that changes prototypes changes nothing for the next one', async () => {
  await renderText(
    engine,
    `{{ ''.constructor.constructor('Object.prototype.polluted = 1; String.prototype.toUpperCase = () => 2')() }}`,
  );
  expect(await renderText(engine, '{{ {}.polluted }}{{ "a" | upper }}')).toBe('A');
});

test.each([
  ['a name', `{{ a['"); throw 1; ("'] }}`],
  ['a block', '{% block a"b %}{% endblock %}'],
  ['a text', '\u2028\\u0022"; throw 1; "\\'],
])('%s with quotes is not code', async (_, text) => {
  const result = await renderText(engine, text).catch((error: Error) => error.message);
  expect(String(result)).not.toMatch(/^1$/);
});

test('a template whose files are larger than may be read has a mistake', async () => {
  const files = {
    'main.njk': '{% include "a.njk" %}{% include "b.njk" %}',
    'a.njk': 'x'.repeat(90e6),
    'b.njk': 'y'.repeat(90e6),
  };
  const failure = await renderText(engine, files).catch((error: Error) => error.message);
  expect(failure).toMatch(/^The template (reads its files too often|needs more than 256 MB of memory)/);
  await expectNextRender();
});
