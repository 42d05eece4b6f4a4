import { afterAll, describe, expect, test } from 'vitest';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import { createNunjucksEngine } from '../../src/adapters/template-engine/nunjucks-engine.ts';
import { NO_DAYS } from '../support/days.ts';
import { mistakesOf, type TaskOptions } from './engine-fixture.ts';

const sandbox = openSandbox();
const engine = createNunjucksEngine(sandbox);
afterAll(() => sandbox.close());

type Place = [path: string, line: number | null, column: number | null];

/** Expects one mistake at a place, whose message names nothing of the service. */
async function expectMistake(
  files: Parameters<typeof mistakesOf>[1],
  place: Place,
  message: string,
  options?: TaskOptions,
) {
  const [path, line, column] = place;
  expect(await mistakesOf(engine, files, options)).toEqual([{ path, message, line, column }]);
}

describe('a file that cannot be compiled has its mistake at', () => {
  test.each<[string, string, number, number, string]>([
    ['an unknown tag', 'a\n  {% foo %}', 2, 6, 'unknown tag: foo'],
    ['an unknown tag after Windows line ends', 'a\r\nb\r\n{% foo %}', 3, 4, 'unknown tag: foo'],
    ['an unclosed block', 'a\n\n {% if x %}\nb', 3, 2, 'expected elif, else, or endif, got end of file'],
    ['an unclosed block in a closed one', '{% if a %}{% endif %}\n{% for x in y %}', 2, 1, 'unexpected end of file'],
    ['a tag that closes another', '{% if a %}\n{% for x in y %}{% endif %}', 2, 20, 'unknown tag: endif'],
    ['an unclosed expression', 'a\nb {{ x', 2, 3, 'expected variable end'],
    ['a bad expression', 'a\n{{ x + }}', 2, 8, 'unexpected token: }}'],
    ['two names', '{{ a b }}', 1, 6, 'expected variable end'],
    ['an expression of several lines', '{{ a +\n\n  * }}', 3, 3, 'unexpected token: *'],
    ['a tag of several lines', '{% set\n  a\n = %}', 3, 4, 'unexpected token: %}'],
    ['text after a tag', '{% else x %}', 1, 4, 'unknown tag: else'],
    ['a name after a tag', '{% if a b %}{% endif %}', 1, 9, 'expected block end in if statement'],
    ['an unclosed comment', 'a\n {# b', 2, 2, 'expected end of comment, got end of file'],
    ['an unknown filter', 'a\n{{ x | nofilter }}', 2, 8, 'unknown filter: nofilter'],
    ['an unknown filter with arguments', '{{ x | upper | nofilter(1) }}', 1, 16, 'unknown filter: nofilter'],
    ['an unknown test', '{% if x is strange %}{% endif %}', 1, 12, 'unknown test: strange'],
    ['what the compiler does not understand', 'a\n{% from "a.njk" import none %}', 2, 1, 'The tag cannot be compiled'],
    [
      'a second block of a name',
      '{% block a %}{% endblock %}\n{% block a %}{% endblock %}',
      2,
      4,
      'The block a is defined twice',
    ],
  ])('%s', (_, text, line, column, message) => expectMistake(text, ['main.njk', line, column], message));
});

describe('a file that fails has its mistake at', () => {
  test.each<[string, string, number, number, string]>([
    ['a call of an unknown name', 'a\n {{ nope() }}', 2, 5, 'Unable to call `nope`, which is undefined or falsey'],
    [
      'a call of an unknown property',
      '{{ user.a.b(\n1) }}',
      1,
      4,
      'Unable to call `user.a.b`, which is undefined or falsey',
    ],
    ['a call in a call', '{{ range(\n  nope()) }}', 2, 3, 'Unable to call `nope`, which is undefined or falsey'],
    [
      'a call after a call',
      '{{ range(1) }}\n{{ nope() }}',
      2,
      4,
      'Unable to call `nope`, which is undefined or falsey',
    ],
    [
      'a call in a condition',
      'a\n{% if nope() %}{% endif %}',
      2,
      7,
      'Unable to call `nope`, which is undefined or falsey',
    ],
    [
      'a call in a loop',
      '{% for x in list %}\n {{ x.y() }}{% endfor %}',
      2,
      5,
      'Unable to call `x.y`, which is undefined or falsey',
    ],
    ['a filter', 'a {{ 1 |\n currency("E") }}', 2, 2, 'currency requires a code of three letters, e.g. "EUR"'],
    ['an asset', '\n{{ asset("none.png") }}', 2, 4, 'There is no asset none.png'],
    ['an unknown include', 'a\n{% include "none.njk" %}', 2, 12, 'template not found: none.njk'],
    ['an include above the root', '{% include "../main.njk" %}', 1, 12, 'template not found: ../main.njk'],
    ['an include of no text', '{% include list %}', 1, 12, 'template names must be a string: 1,2'],
    [
      'an import of itself',
      '{% from "main.njk" import a %}',
      1,
      9,
      'The templates include or call each other without end',
    ],
  ])('%s', (_, text, line, column, message) =>
    expectMistake(text, ['main.njk', line, column], message, { data: { user: {}, list: [1, 2] } }),
  );

  test('the file that is included', () =>
    expectMistake(
      { 'main.njk': '\n\n\n{% include "parts/a.njk" %}', 'parts/a.njk': 'a\n{{ nope() }}' },
      ['parts/a.njk', 2, 4],
      'Unable to call `nope`, which is undefined or falsey',
    ));

  test('the included file that cannot be compiled', () =>
    expectMistake(
      { 'main.njk': 'a{% for x in [1, 2] %}{% include "a.njk" %}{% endfor %}b', 'a.njk': 'a\n\n{% foo %}' },
      ['a.njk', 3, 4],
      'unknown tag: foo',
    ));

  test('the base file', () =>
    expectMistake(
      {
        'main.njk': '{% extends "base.njk" %}{% block a %}{% endblock %}',
        'base.njk': '\n{% block a %}{% endblock %}\n {{ nope() }}',
      },
      ['base.njk', 3, 5],
      'Unable to call `nope`, which is undefined or falsey',
    ));

  test('the block of the extending file', () =>
    expectMistake(
      {
        'main.njk': '{% extends "base.njk" %}\n{% block a %}\n  {{ nope() }}{% endblock %}',
        'base.njk': '{% block a %}{% endblock %}',
      },
      ['main.njk', 3, 6],
      'Unable to call `nope`, which is undefined or falsey',
    ));

  test('the macro that is imported', () =>
    expectMistake(
      { 'main.njk': '{% import "m.njk" as m %}{{ m.f() }}', 'm.njk': '\n{% macro f() %}\n {{ nope() }}{% endmacro %}' },
      ['m.njk', 3, 5],
      'Unable to call `nope`, which is undefined or falsey',
    ));

  test('the call after a macro of another file', () =>
    expectMistake(
      {
        'main.njk': '{% import "m.njk" as m %}\n{{ nope(m.f()) }}',
        'm.njk': '\n\n{% macro f() %}{{ range(1) }}{% endmacro %}',
      },
      ['main.njk', 2, 4],
      'Unable to call `nope`, which is undefined or falsey',
    ));

  test('the expression after a macro of another file', () =>
    expectMistake(
      {
        'main.njk': '{% import "m.njk" as m %}\n {{ 1 in m.f().nothing }}',
        'm.njk': '{% macro f() %}{{ range(1) }}{% endmacro %}',
      },
      ['main.njk', 2, 10],
      'Cannot use "in" operator to search for "1" in unexpected types.',
    ));

  test('the text around the pages', () =>
    expectMistake('a', ['settings.footer', 2, 4], 'unknown tag: foo', { handler: 'pdf', footer: '\n{% foo %}' }));

  test('the file that is not encoded as UTF-8', () =>
    expectMistake(
      { 'main.njk': Buffer.from([0x61, 0xff]) },
      ['main.njk', null, null],
      'The file main.njk is not encoded as UTF-8',
    ));
});

describe('if unknown names are mistakes, they are at', () => {
  test.each<[string, string, number, number, string]>([
    ['a name', 'a\n{{ title }}', 2, 4, 'Unknown name title'],
    ['a property', '{{ user.name.first }}', 1, 4, 'Unknown name user.name'],
    ['an element', '{{ list[5] }}', 1, 4, 'Unknown name list[5]'],
    ['a property by its text', '{{ user["first name"] }}', 1, 4, 'Unknown name user["first name"]'],
    ['a condition', '\n{% if title %}{% endif %}', 2, 7, 'Unknown name title'],
    ['a list', '{% for x in rows %}{% endfor %}', 1, 13, 'Unknown name rows'],
    ['an argument', '{{ list | join(separator) }}', 1, 16, 'Unknown name separator'],
    ['a DATA file', '{{ data["none.csv"] }}', 1, 4, 'Unknown name data["none.csv"]'],
    ['a value that is not a number', '{{ "abc" | number }}', 1, 12, '"abc" is not a number'],
    ['a value that is not a date', '{{ "abc" | date }}', 1, 12, '"abc" is not a date'],
    [
      'letters that are not a field',
      '{{ "2024-03-09" | date("YYYY-MM-DD") }}',
      1,
      19,
      '"YYYY" is not a field of dates',
    ],
    ...NO_DAYS.map((day): [string, string, number, number, string] => [
      `the day ${day}`,
      `{{ "${day}" | date }}`,
      1,
      9 + day.length,
      `"${day}" is not a date`,
    ]),
  ])('%s', (_, text, line, column, message) =>
    expectMistake(text, ['main.njk', line, column], message, {
      settings: { strict: true },
      data: { user: {}, list: [1, null] },
    }),
  );
});
