import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bindParameters, checkParameters, parseTemplate } from '../../src/core/parameters.ts';
import type { ParameterDefinition } from '../../src/core/parameters.ts';

const badInput = (message: string | RegExp) =>
  expect.objectContaining({
    status: 400,
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  });
const region: ParameterDefinition = { name: 'region', dataType: 'string', required: true };

describe('a query is split at its placeholders', () => {
  test('into texts and placeholders, in order', () => {
    expect(parseTemplate('select * from t where a = {{a}} and b in ({{ b }}, {{a}})')).toEqual([
      'select * from t where a = ',
      { name: 'a' },
      ' and b in (',
      { name: 'b' },
      ', ',
      { name: 'a' },
      ')',
    ]);
    expect(parseTemplate('')).toEqual([]);
  });

  test.each([
    ['select 1;', 'select 1'],
    ['select 1 ; -- done; really\n', 'select 1  -- done; really\n'],
    ["select ';' as x /* ; /* ; */ */;", "select ';' as x /* ; /* ; */ */"],
    ["select $q$ it's; $q$, a$b$c from t", "select $q$ it's; $q$, a$b$c from t"],
    ["select '{{1,2},{3,4}}'::int[][]", "select '{{1,2},{3,4}}'::int[][]"],
    [String.raw`select '\', E'\'', typee'x'`, String.raw`select '\', E'\'', typee'x'`],
  ])('a trailing semicolon is removed, others are part of the text: %s', (sql, text) => {
    expect(parseTemplate(sql)).toEqual([text]);
  });

  test.each([
    ["select '{{a}}'", /is inside a string/],
    ["select 'it''s {{a}}'", /is inside a string/],
    [String.raw`select E'\' {{a}}'`, /is inside a string/],
    ['select $$ {{a}} $$', /is inside a string/],
    ['select $x$ $$ {{a}} $x$', /is inside a string/],
    ['select "{{a}}"', /is inside a quoted name/],
    ['select `{{a}}`', /is inside a quoted name/],
    ['select 1 -- {{a}}', /is inside a comment/],
    ['select 1 /* /* */ {{a}} */', /is inside a comment/],
    ['select {{ a b }}', /does not begin a placeholder/],
    ['select {{1a}}', /does not begin a placeholder/],
    ['select {{a', /does not begin a placeholder/],
    ["select 'a", 'The query ends within a string'],
    ['select "a', 'The query ends within a quoted name'],
    ['select /* /* */', 'The query ends within a comment'],
    ['select $a$ $b$', 'The query ends within a string'],
    ['select 1; select 2', 'The query has more than one statement'],
    ['select 1; {{a}}', 'The query has more than one statement'],
    ["select 1; ''", 'The query has more than one statement'],
  ])('%s is refused', (sql, message) => {
    expect(() => parseTemplate(sql)).toThrow(badInput(message));
  });

  test('MySQL has its own rules for backslashes, # comments and --', () => {
    expect(parseTemplate(String.raw`select 'it\'s', {{a}} # that's it`, 'mysql')).toContainEqual({ name: 'a' });
    expect(parseTemplate('select 5--{{a}}', 'mysql')).toContainEqual({ name: 'a' });
    expect(() => parseTemplate('select "{{a}}"', 'mysql')).toThrow(badInput(/is inside a string/));
    expect(() => parseTemplate('select 1 # {{a}}', 'mysql')).toThrow(badInput(/is inside a comment/));
  });

  test('the pieces of any query add up to its text', () => {
    const fragments = fc.array(
      fc.constantFrom(
        "'",
        '"',
        '`',
        '$',
        '$$',
        '$a$',
        'e',
        'E',
        '\\',
        '--',
        '\n',
        '/*',
        '*/',
        'x',
        ' ',
        '{{a}}',
        '1',
        '#',
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(fragments, fc.constantFrom('standard' as const, 'mysql' as const), (parts, dialect) => {
        const sql = parts.join('');
        let pieces;
        try {
          pieces = parseTemplate(sql, dialect);
        } catch (error) {
          expect(error).toMatchObject({ status: 400 });
          return;
        }
        expect(pieces.map((piece) => (typeof piece === 'string' ? piece : `{{${piece.name}}}`)).join('')).toBe(sql);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('definitions are checked when a query is saved', () => {
  test('an unused definition is accepted', () =>
    expect(() =>
      checkParameters('select {{region}}', [region, { name: 'more', dataType: 'date', defaultValue: '2024-01-01' }]),
    ).not.toThrow());

  test.each<[string, ParameterDefinition[], string | RegExp]>([
    ['select {{region}}, {{other}}', [region], 'The placeholder {{other}} has no definition'],
    ['select 1', [region, region], 'The parameter "region" is defined twice'],
    ['select 1', [{ ...region, name: 'a b' }], /^"a b" is not a valid parameter name/],
    ['select 1', [{ ...region, name: '2x' }], /^"2x" is not a valid parameter name/],
    ['select 1', [{ ...region, dataType: 'blob' as 'string' }], 'The parameter "region" has the unknown type "blob"'],
    ['select 1', [{ ...region, defaultValue: 3 }], 'The parameter "region" must be a string'],
    [
      'select 1',
      [{ ...region, dataType: 'date', defaultValue: '2024-13-01' }],
      'The parameter "region" must be a date in ISO format',
    ],
  ])('%s with %j', (sql, definitions, message) => {
    expect(() => checkParameters(sql, definitions)).toThrow(badInput(message));
  });
});

describe('parameters are bound to values for a run', () => {
  const definitions: ParameterDefinition[] = [
    region,
    { name: 'from', dataType: 'date', defaultValue: '2024-01-01' },
    { name: 'least', dataType: 'number', defaultValue: 0 },
    { name: 'active', dataType: 'boolean' },
  ];
  const values = (overrides: Record<string, unknown>) =>
    bindParameters(definitions, overrides).map((parameter) => parameter.value);

  test('to overrides, else defaults, else null', () => {
    expect(bindParameters(definitions, { region: 'EU' })).toEqual([
      { name: 'region', dataType: 'string', value: 'EU' },
      { name: 'from', dataType: 'date', value: '2024-01-01' },
      { name: 'least', dataType: 'number', value: 0 },
      { name: 'active', dataType: 'boolean', value: null },
    ]);
    expect(values({ region: '', from: '2024-05-01T02:00:00+02:00', least: null, active: false })).toEqual([
      '',
      '2024-05-01T00:00:00.000Z',
      null,
      false,
    ]);
    expect(values({ region: 'EU', from: undefined })).toEqual(['EU', '2024-01-01', 0, null]);
  });

  test.each([
    ['5', 5],
    ['-0.50', -0.5],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', '9007199254740992'],
    ['-009007199254740993', '-9007199254740993'],
    ['1234567890123456.72', '1234567890123456.72'],
  ])('the digits %j of a number become %j', (least, bound) => {
    expect(values({ region: 'EU', least })[2]).toBe(bound);
  });

  test.each<[Record<string, unknown>, string]>([
    [{}, 'The parameter "region" is required'],
    [{ region: null }, 'The parameter "region" is required'],
    [{ region: 'EU', nope: 1 }, 'Unknown parameter "nope"'],
    [JSON.parse('{"region": "EU", "__proto__": 1}'), 'Unknown parameter "__proto__"'],
    [{ region: 5 }, 'The parameter "region" must be a string'],
    [{ region: 'a\0' }, 'The parameter "region" must be a string'],
    [{ region: 'EU', least: 'five' }, 'The parameter "least" must be a number'],
    [{ region: 'EU', least: '1e3' }, 'The parameter "least" must be a number'],
    [{ region: 'EU', least: ' 5' }, 'The parameter "least" must be a number'],
    [{ region: 'EU', least: Infinity }, 'The parameter "least" must be a number'],
    [
      { region: 'EU', least: 9007199254740992 },
      'The parameter "least" is a number past 9007199254740991, which JSON parsers round: ' +
        'write it as a text with all digits',
    ],
    [{ region: 'EU', from: 'yesterday' }, 'The parameter "from" must be a date in ISO format'],
    [{ region: 'EU', active: 1 }, 'The parameter "active" must be a boolean'],
  ])('%j is refused', (overrides, message) => {
    expect(() => values(overrides)).toThrow(badInput(message));
  });
});
