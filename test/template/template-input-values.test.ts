import { describe, expect, test } from 'vitest';
import { ApiError, type ValidationIssue } from '../../src/core/errors.ts';
import { checkSchema } from '../../src/services/template/template-input-schema.ts';
import { checkParameters, type InputDefinition } from '../../src/services/template/template-input-values.ts';

const input = (
  name: string,
  schema: Record<string, unknown>,
  more: Partial<InputDefinition> = {},
): InputDefinition => ({
  name,
  schema,
  required: false,
  defaultValue: null,
  ...more,
});

/** Returns path and code of each issue of the error that a call throws. */
function issuesOf(run: () => unknown): [string, string][] {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError && error.status === 400)
      return error.validation!.map(({ path, code }: ValidationIssue) => [path.join('.'), code]);
    throw error;
  }
  throw new Error('It threw nothing');
}

const problemOf = (schema: Record<string, unknown>, value: unknown): [string, string] | null => {
  try {
    checkParameters([input('x', schema)], { x: value });
    return null;
  } catch (error) {
    return [(error as ApiError).validation![0]!.path.join('.'), (error as ApiError).validation![0]!.code];
  }
};

describe('the values of a rendering', () => {
  const country = input('country', { type: 'string', enum: ['DE', 'FR'] }, { required: true });
  const since = input('since', { type: 'string', format: 'date' }, { defaultValue: '2026-01-01' });
  const note = input('note', { type: 'string' });

  test('are the given ones, else the defaults, else null', () => {
    expect(checkParameters([country, since, note], { country: 'DE' })).toEqual({
      country: 'DE',
      since: '2026-01-01',
      note: null,
    });
    expect(checkParameters([country, since, note], { country: 'FR', since: '2026-02-28', note: 'x' })).toEqual({
      country: 'FR',
      since: '2026-02-28',
      note: 'x',
    });
    expect(checkParameters([], undefined)).toEqual({});
  });

  test('are null on demand, unless they are required', () => {
    expect(checkParameters([since], { since: null })).toEqual({ since: null });
    expect(issuesOf(() => checkParameters([country], { country: null }))).toEqual([['params.country', 'required']]);
    const maybe = input('maybe', { type: ['string', 'null'] }, { required: true });
    expect(issuesOf(() => checkParameters([maybe], {}))).toEqual([['params.maybe', 'required']]);
    expect(issuesOf(() => checkParameters([input('any', {}, { required: true })], {}))).toEqual([
      ['params.any', 'required'],
    ]);
    expect(checkParameters([maybe], { maybe: null })).toEqual({ maybe: null });
  });

  test('are all checked, and each problem is one issue', () => {
    expect(issuesOf(() => checkParameters([country, since], { since: 'soon', color: 1, toString: 2 }))).toEqual([
      ['params.color', 'unknown'],
      ['params.toString', 'unknown'],
      ['params.country', 'required'],
      ['params.since', 'format'],
    ]);
  });

  test('are bounded', () => {
    const any = input('any', {});
    expect(issuesOf(() => checkParameters([any], { any: 'x'.repeat(1024 * 1024) }))).toEqual([['params', 'invalid']]);
    const deep = JSON.parse(`${'['.repeat(20)}${']'.repeat(20)}`) as unknown;
    expect(issuesOf(() => checkParameters([any], { any: deep }))).toEqual([['params', 'invalid']]);
    expect(issuesOf(() => checkParameters([any], [] as never))).toEqual([['params', 'invalid']]);
  });

  test.each([
    ['date', '2026-02-30', '2026-02-28'],
    ['date-time', '2026-01-01', '2026-01-01T00:00:00Z'],
    ['email', 'zoe', 'zoe@example.com'],
    ['uuid', '123', '123e4567-e89b-12d3-a456-426614174000'],
    ['ipv4', '1.2.3', '1.2.3.4'],
    ['uri', 'here', 'https://example.com/'],
  ])('have the format %s', (format, wrong, right) => {
    expect(problemOf({ format }, wrong)).toEqual(['params.x', 'format']);
    expect(problemOf({ format }, right)).toBeNull();
  });

  test('are checked in all their parts, by either draft', () => {
    const list = { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } } } };
    expect(problemOf(list, [{ n: 1 }, { n: 'x' }])).toEqual(['params.x.1.n', 'type']);
    const tuple = { prefixItems: [{ type: 'integer' }] };
    expect(problemOf(tuple, ['x'])).toEqual(['params.x.0', 'type']);
    const former = { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'integer' }] };
    expect(problemOf(former, ['x'])).toEqual(['params.x.0', 'type']);
    const referring = { $defs: { 'a/b': { minimum: 3 } }, $ref: '#/$defs/a~1b' };
    expect(problemOf(referring, 2)).toEqual(['params.x', 'minimum']);
    expect(
      problemOf({ uniqueItems: true }, [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ]),
    ).toEqual(['params.x', 'uniqueItems']);
    expect(problemOf({ uniqueItems: true }, [1, '1', [1], { 1: 1 }])).toBeNull();
  });

  test('fit patterns that a matcher with backtracking would test for years', () => {
    expect(problemOf({ pattern: '^(a+)+$' }, `${'a'.repeat(50_000)}!`)).toEqual(['params.x', 'pattern']);
    expect(problemOf({ pattern: '^(a+)+$' }, 'a'.repeat(50_000))).toBeNull();
    expect(problemOf({ pattern: '^\\u00e9\\d{3}$' }, 'é123')).toBeNull();
    const names = { patternProperties: { '^(x+)+$': { type: 'integer' } }, additionalProperties: false };
    expect(problemOf(names, { [`${'x'.repeat(5000)}!`]: 1 })?.[1]).toBe('additionalProperties');
  });

  test('are refused where a check would take too long', () => {
    const heavy = { items: { allOf: Array.from({ length: 200 }, () => ({ minLength: 1 })) } };
    expect(
      problemOf(
        heavy,
        Array.from({ length: 150_000 }, () => 1),
      ),
    ).toEqual(['params.x', 'invalid']);
    const equal = Array.from({ length: 50_000 }, () => ({}));
    expect(problemOf({ uniqueItems: true }, equal)).toEqual(['params.x', 'uniqueItems']);
  });
});

describe('the schema of an input', () => {
  const refused = (schema: Record<string, unknown>): [string, string] => {
    try {
      checkSchema(schema, ['inputs', 0, 'schema']);
    } catch (error) {
      if (error instanceof ApiError) return [error.validation![0]!.path.join('.'), error.message];
      throw error;
    }
    throw new Error('The schema is accepted');
  };

  test('follows its draft', () => {
    expect(refused({ type: 'text' })[0]).toBe('inputs.0.schema.type');
    expect(refused({ properties: { a: { minLength: -1 } } })[0]).toBe('inputs.0.schema.properties.a.minLength');
    expect(refused({ $schema: 'http://json-schema.org/draft-04/schema#' })[1]).toMatch(/must be one of https:/);
    checkSchema({ type: 'string', title: 'Words of forms', 'x-widget': 'area', format: 'colour' }, ['schema']);
  });

  test.each([
    { $ref: 'https://example.com/schema.json' },
    { $ref: 'other.json#/a' },
    { $ref: '#anchor' },
    { $ref: '#/$defs/missing' },
    { $ref: '#/__proto__' },
    { properties: { a: { $ref: 'file:///etc/passwd' } } },
    { $id: 'https://example.com/', $ref: '#' },
    { $dynamicRef: '#a' },
    { $async: true },
    { $defs: { a: { $id: 'x' } } },
  ])('refers to itself only: %j', (schema) => {
    expect(refused(schema)[0]).toMatch(/^inputs\.0\.schema\b.*\.(\$ref|\$id|\$dynamicRef|\$async)$/);
  });

  test('keeps `$ref` and `$id` as names and values', () => {
    const schema = { properties: { $ref: { type: 'string' }, $id: {} }, examples: [{ $ref: 'x' }], enum: [{ $id: 1 }] };
    checkSchema(schema, ['s']);
    expect(problemOf(schema, { $id: 1 })).toBeNull();
    expect(problemOf(schema, { $id: 2 })).toEqual(['params.x', 'enum']);
  });

  test('does not contain itself, and does not grow without limit when references are written out', () => {
    expect(refused({ $ref: '#' })).toEqual(['inputs.0.schema.$ref', 'inputs.0.schema.$ref must not refer to itself']);
    expect(refused({ properties: { a: { items: { $ref: '#' } } } })[1]).toMatch(/must not refer to itself/);
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [
        `d${i}`,
        i === 39 ? {} : { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
      ]),
    );
    expect(refused({ $defs, $ref: '#/$defs/d0' })[1]).toMatch(
      /at most 500 keywords when its references are written out/,
    );
  });

  test('has patterns that need no backtracking', () => {
    expect(refused({ pattern: '(?=a)b' })).toEqual(['inputs.0.schema.pattern', expect.stringContaining('"(?=a)b"')]);
    expect(refused({ pattern: String.raw`(a)\1` })[1]).toMatch(/is not supported/);
    expect(refused({ pattern: '((a{100}){100}){100}' })[1]).toMatch(/a\{100\}/);
    expect(refused({ patternProperties: { '(?!a)': {} } })[1]).toMatch(/"\(\?!a\)"/);
    expect(refused({ $defs: { a: { pattern: '(' } } })[0]).toBe('inputs.0.schema.$defs.a.pattern');
  });

  test('has at most 1000 values in enum', () => {
    const values = Array.from({ length: 501 }, (_, i) => i);
    checkSchema({ enum: [...values.slice(1), ...values.slice(1).map(String)] }, ['s']);
    expect(refused({ anyOf: [{ enum: values }, { enum: values.map(String) }] })[1]).toMatch(/at most 1000 values/);
  });
});
