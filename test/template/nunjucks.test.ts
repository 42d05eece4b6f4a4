import { afterAll, describe, expect, test } from 'vitest';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import { createNunjucksEngine } from '../../src/adapters/template-engine/nunjucks-engine.ts';
import { NO_DAYS } from '../support/days.ts';
import { checkTaskOf, renderTaskOf, renderText, type TaskOptions } from './engine-fixture.ts';

const sandbox = openSandbox();
const engine = createNunjucksEngine(sandbox);
const render = (files: Parameters<typeof renderText>[1], options?: TaskOptions) => renderText(engine, files, options);

afterAll(() => sandbox.close());

describe('files', () => {
  test('include, extend and import others by their path from the root, or relative to themselves', async () => {
    const files = {
      'main.njk':
        '{% extends "layouts/base.html" %}{% block body %}{{ super() }}!{% include "parts/row.njk" %}{% endblock %}',
      'layouts/base.html': '{% import "../macros.njk" as m %}<{% block body %}base{% endblock %}>{{ m.twice("x") }}',
      'parts/row.njk': '{% include "./cell.txt" %}{% from "macros.njk" import twice %}{{ twice(1) }}',
      'parts/cell.txt': 'cell ',
      'macros.njk': '{% macro twice(v) %}{{ v }}{{ v }}{% endmacro %}',
    };
    expect(await render(files)).toBe('<base!cell 11>xx');
  });

  test('that do not exist can be ignored', async () => {
    expect(await render('a{% include "none.njk" ignore missing %}b')).toBe('ab');
  });

  test('may have names of properties', async () => {
    expect(await render({ 'main.njk': '{% include "constructor" %}', constructor: 'included' })).toBe('included');
  });

  test('may begin with a byte order mark and contain any characters', async () => {
    expect(await render('\uFEFF€ 😀 {{ name }}', { data: { name: 'Ñ' } })).toBe('€ 😀 Ñ');
  });
});

describe('values', () => {
  const data = { html: '<b>"a" & \'b\'</b>' };

  test.each([
    ['html', '&lt;b&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/b&gt;'],
    ['pdf', '&lt;b&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/b&gt;'],
    ['text', data.html],
    ['csv', data.html],
  ])('of %s are escaped as it needs', async (handler, expected) => {
    expect(await render('{{ html }}', { data, handler })).toBe(expected);
  });

  test('that are unknown are empty', async () => {
    expect(await render('[{{ a }}{{ b.c.d }}{{ data["x.csv"] }}{% for x in y %}{% endfor %}]')).toBe('[]');
  });

  test('that are unknown are found by tests and the filter default, even if they are mistakes', async () => {
    const text =
      '{{ a | default("A") }}{{ b.c | d("B") }}{% if a is defined %}1{% endif %}{% if b.c is undefined %}2{% endif %}';
    expect(await render(text, { settings: { strict: true } })).toBe('AB2');
  });

  test('are the values of the task, with lists in their order', async () => {
    const rows = Array.from({ length: 1234 }, (_, n) => ({ n }));
    const text = '{{ inputs.since }} {{ orders.rows.length }} {% for row in orders.rows %}{{ row.n }},{% endfor %}';
    const expected = `2024 1234 ${rows.map(({ n }) => `${n},`).join('')}`;
    expect(await render(text, { data: { inputs: { since: '2024' }, orders: { rows } } })).toBe(expected);
  });

  test('of assets are data URLs, whose media type is harmless', async () => {
    const base64 = Buffer.from('<svg onload="alert(1)"/>').toString('base64');
    expect(await render('<img src="{{ asset("logo.svg") }}">', { handler: 'html' })).toBe(
      `<img src="data:image/svg+xml;base64,${base64}">`,
    );
    expect(await render('{{ asset("odd.bin") }}')).toBe('data:application/octet-stream;base64,YQ==');
  });
});

describe('the filter', () => {
  test.each([
    ['number', '{{ 1234.5678 | number }}', '1,234.568'],
    ['number with digits', '{{ 1234.5 | number(2) }}', '1,234.50'],
    ['number with digits by name', '{{ 1234.5 | number(digits=0) }}', '1,235'],
    ['number of a long text', '{{ "12345678901234567890.12" | number(2) }}', '12,345,678,901,234,567,890.12'],
    ['number of no number', '{{ "abc" | number }}', 'abc'],
    ['number of nothing', '[{{ none | number }}{{ "" | number }}{{ x | number }}]', '[]'],
    ['currency', '{{ -1234.5 | currency("EUR") }}', '-€1,234.50'],
    ['currency without decimals', '{{ 5 | currency("JPY") }}', 'JP¥5'],
    ['date', '{{ "2024-03-09" | date }}', '9 Mar 2024'],
    ['date in the time zone', '{{ "2024-03-09T23:30:00Z" | date("short") }}', '10/03/2024'],
    ['date of a local time', '{{ "2024-03-09T23:30:00" | date("long") }}', '9 March 2024'],
    ['date with all words', '{{ "2024-03-09" | date("full") }}', 'Saturday, 9 March 2024'],
    ['date of milliseconds', '{{ 0 | date("yyyy-MM-dd HH:mm:ss") }}', '1970-01-01 01:00:00'],
    ['date by a pattern', '{{ "2024-03-09T07:05:01+05" | date("d.M.yy hh:mm a") }}', '9.3.24 03:05 AM'],
    [
      'date by a pattern with words',
      `{{ "2024-03-09" | date("EEE d MMMM yyyy 'o''clock'") }}`,
      'Sat 9 March 2024 oclock',
    ],
    ['date by short fields', '{{ "2024-03-09T23:05:07" | date("d/M/yy H:m:s") }}', '9/3/24 23:5:7'],
    ['date of an early year', '{{ "0099-01-02" | date("yyyy-MM-dd yy") }}', '0099-01-02 99'],
    ['date by unknown letters', '{{ "2024-03-09" | date("YYYY-MM-DDTHH") }}', 'YYYY-03-DDT00'],
    ['date of a time', '{{ "15:06:07" | date("h:mm:ss a") }}', '3:06:07 PM'],
    ['date of a time without a day', '{{ "15:06" | date("d. HH:mm") }} {{ "15:06" | date }}', '15:06 15:06'],
    ['date of no date', '{{ "soon" | date }}', 'soon'],
    ...NO_DAYS.map((day): [string, string, string] => [
      `date of ${day}, which does not exist`,
      `{{ "${day}" | date("yyyy-MM-dd") }}`,
      day,
    ]),
    [
      'csv',
      '{{ "a" | csv }},{{ "a,b" | csv }},{{ \'say "x"\' | csv }},{{ "" | csv }},{{ none | csv }}',
      'a,"a,b","say ""x""","",',
    ],
    ['csv of a formula, which is not changed', '{{ "=1+1" | csv }}', '=1+1'],
    ['csv of a list', '{{ [1, "a b", " c", none] | csv }}', '1,a b," c",'],
    [
      'markdown',
      '{{ "# A\n\n*b* <i>c</i> [d](javascript:alert) [e](https://e.example)" | markdown }}',
      '<h1>A</h1>\n<p><em>b</em> &lt;i&gt;c&lt;/i&gt; [d](javascript:alert) <a href="https://e.example">e</a></p>\n',
    ],
    ['upper of nunjucks', '{{ "a" | upper }}', 'A'],
  ])('%s', async (_, text, expected) => {
    expect(await render(text)).toBe(expected);
  });

  test.each([
    ['de-DE', '1.234,5 1.234,50\u00A0€ 09.03.2024 Samstag'],
    ['fr-FR', '1\u202F234,5 1\u202F234,50\u00A0€ 9 mars 2024 samedi'],
    ['ja-JP', '1,234.5 €1,234.50 2024/03/09 土曜日'],
  ])('of numbers and dates are in the locale %s', async (locale, expected) => {
    const text =
      '{{ 1234.5 | number }} {{ 1234.5 | currency("EUR") }} {{ "2024-03-09" | date }} {{ "2024-03-09" | date("EEEE") }}';
    expect(await render(text, { settings: { locale } })).toBe(expected);
  });

  test('markdown is not escaped again in HTML', async () => {
    expect(await render('{{ "**a**" | markdown }}', { handler: 'html' })).toBe('<p><strong>a</strong></p>\n');
  });
});

describe('a PDF', () => {
  test('has the HTML of the texts around each page, with the numbers of pages', async () => {
    const task = renderTaskOf(
      { 'main.njk': '{{ title }}' },
      { handler: 'pdf', data: { title: '<A>' }, header: '{{ title }} {{ page }}/{{ pages }}', footer: null },
    );
    const { content, header, footer } = await engine.render(task);
    expect(Buffer.from(content).toString()).toBe('&lt;A&gt;');
    expect(header).toBe('&lt;A&gt; <span class="pageNumber"></span>/<span class="totalPages"></span>');
    expect(footer).toBeNull();
  });
});

describe('a check', () => {
  test('of good files finds nothing', async () => {
    const files = { 'a.njk': '{{ unknown.name }}{% include name %}{% include "./b.njk" %}', 'b.njk': 'b' };
    const dataFiles = { 'a.json': '{"a": [1]}', 'b.csv': 'a\n1' };
    expect(await engine.check(checkTaskOf(files, { dataFiles, handler: 'pdf', header: '{{ page }}' }))).toEqual([]);
  });

  test('finds the mistakes of all files, and references to files that do not exist', async () => {
    const files = {
      'a.njk': '{% if %}',
      'b.njk': '\n{% include "./none.njk" %}{% include "x" ignore missing %}',
      'c.njk': '{{ a | nofilter }}',
    };
    const dataFiles = { 'a.json': '{"a":\n 1,}', 'b.csv': 'a,b\n1,2,3' };
    const mistakes = await engine.check(
      checkTaskOf(files, { dataFiles, handler: 'pdf', header: '{{', footer: '{% foo %}' }),
    );
    expect(mistakes).toEqual([
      { path: 'a.njk', message: 'unexpected token: %}', line: 1, column: 7 },
      { path: 'c.njk', message: 'unknown filter: nofilter', line: 1, column: 8 },
      { path: 'a.json', message: 'Expected double-quoted property name', line: 2, column: 4 },
      { path: 'b.csv', message: 'The line has 3 fields, but the header has 2', line: 2, column: null },
      { path: 'settings.header', message: 'expected expression, got end of file', line: 1, column: 1 },
      { path: 'settings.footer', message: 'unknown tag: foo', line: 1, column: 4 },
      { path: 'b.njk', message: 'template not found: ./none.njk', line: 2, column: 12 },
    ]);
  });

  test('finds at most 100 mistakes', async () => {
    const files = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`${n}.njk`, '{% foo %}']));
    expect(await engine.check(checkTaskOf(files))).toHaveLength(100);
  });
});
