import fc from 'fast-check';
import type { Field } from '../../../src/core/fields.ts';

/** One field of every kind, with names that are reserved or require quotes in some engine. */
export const EVERY_KIND: Field[] = [
  { name: 'name', label: 'name', type: 'string' },
  { name: 'Größe "x"', label: 'size', type: 'text' },
  { name: 'count', label: 'count', type: 'integer' },
  { name: 'COUNT', label: 'count', type: 'integer', format: 'int64' },
  { name: 'a.b', label: 'b', type: 'number' },
  { name: 'price', label: 'price', type: 'number', format: 'decimal' },
  { name: 'constructor', label: 'active', type: 'boolean' },
  { name: 'day', label: 'day', type: 'date' },
  { name: 'at', label: 'at', type: 'datetime' },
  { name: '_row', label: 'extra', type: 'json' },
];

// The pools are small, so that criteria match rows often.
const STRINGS = [
  '',
  'a',
  'A',
  'ab',
  'b',
  'z',
  'Z',
  'aé',
  'é',
  'k',
  '\u212A',
  'ſ',
  's',
  '😀',
  '\uFFFD',
  '\uE000',
  'a\nb',
  'a b',
  ' ',
  '\t',
  '\v',
  '\u00A0',
  '7',
  '٣',
  "it's",
  'a_',
  '$1',
  '%',
];
const LONG = 'x'.repeat(8000);
const TEXTS = [...STRINGS, LONG, `${LONG}y`, `${LONG}z`, `${'😀'.repeat(7999)}ab`, `${'😀'.repeat(7999)}ac`];
const INTEGERS = [-2, -1, 0, 1, 2, 3, 42, 9007199254740991, -9007199254740991];
const INT64 = [
  '-1',
  '0',
  '1',
  '9007199254740993',
  '9007199254740992',
  '9007199254740994',
  '9223372036854775806',
  '9223372036854775807',
  '-9223372036854775807',
  '-9223372036854775808',
];
const NUMBERS = [-0.5, 0, 0.1, 0.25, 1, 1.5, 2, 42, 1e21, -1e21, 5e-7, 123456.789];
const DECIMALS = [
  '0.1',
  '0.1234567891',
  '-0.5',
  '1',
  '1.5',
  '42',
  '1234567890.1234567891',
  '1234567890.1234567892',
  '-1234567890.1234567891',
  '-1234567890.1234567892',
  '123456789012345678.9',
  '123456789012345679',
];
const DATES = ['2023-12-31', '2024-01-01', '2024-02-29', '1969-07-20', '0001-01-01', '9999-12-31'];
const DATETIMES = [
  '2023-12-31T23:59:59.999Z',
  '2024-01-01T00:00:00.000Z',
  '2024-01-01T00:00:00.001Z',
  '2024-02-29T12:30:00.000Z',
  '1969-07-20T20:17:40.000Z',
];
const REGEXES = [
  '',
  'a',
  '^a',
  'a$',
  '^$',
  '^a$',
  'a|b',
  '^(a|b)$',
  '[a-c]+',
  '[^a]',
  '^[^a-z]$',
  '.',
  '^.$',
  'a.b',
  '\\d',
  '\\w',
  '\\s',
  '^\\w+$',
  '[\\s\\d]',
  'k',
  'S',
  '[J-L]',
  '^a?b*$',
  'a{1}',
  '^a{0,2}$',
  '(a|é)+$',
  '\\$\\d',
  "\\'",
  '😀',
  '^[😀é]',
  'x{3,}y?',
  '()',
  '(|a)b',
  'a^',
  '$a',
  '^x{900}',
  'y$',
  '[-a]',
  '[a\\]]',
  '_',
  '\\.',
  '(^a|b$)',
  '(a*)*',
  '^a$b',
  'a(^b)?',
  '(a$)b',
  '%',
  '^\\$$',
];

const POOLS: Record<string, readonly (string | number | boolean)[]> = {
  string: STRINGS,
  text: TEXTS,
  integer: INTEGERS,
  number: NUMBERS,
  boolean: [true, false],
  date: DATES,
  datetime: DATETIMES,
  int64: INT64,
  decimal: DECIMALS,
};

const poolOf = (field: Field) => POOLS[field.format ?? field.type] ?? [];

/** Generates rows in their JSON form. About one value in five is missing. */
export function arbitraryRow(fields: readonly Field[]): fc.Arbitrary<Record<string, unknown>> {
  const value = (field: Field) =>
    fc.option<unknown>(
      field.type === 'json'
        ? fc.constantFrom<unknown>({ a: 1 }, [1, 'b'], 'text', 0, false)
        : fc.constantFrom(...poolOf(field)),
      { nil: null, freq: 4 },
    );
  return fc
    .tuple(...fields.map(value))
    .map((values) => Object.fromEntries(fields.map((field, i) => [field.name, values[i]])));
}

/** Generates valid criteria over the fields, as the JSON that clients send. */
export function arbitraryCriteria(fields: readonly Field[]): fc.Arbitrary<Record<string, unknown>> {
  const condition = fc
    .constantFrom(...fields)
    .chain((field) => fieldCondition(field).map((value) => ({ [field.name]: value })));
  return fc.letrec<{ criteria: Record<string, unknown> }>((tie) => ({
    criteria: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { weight: 4, arbitrary: condition },
      {
        weight: 1,
        arbitrary: fc
          .array(condition, { maxLength: 3 })
          .map((some) => Object.assign({}, ...some) as Record<string, unknown>),
      },
      { weight: 2, arbitrary: fc.record({ $and: fc.array(tie('criteria'), { maxLength: 4 }) }) },
      { weight: 2, arbitrary: fc.record({ $or: fc.array(tie('criteria'), { maxLength: 4 }) }) },
      { weight: 2, arbitrary: fc.record({ $not: tie('criteria') }) },
    ),
  })).criteria;
}

function fieldCondition(field: Field): fc.Arbitrary<unknown> {
  const bare = comparedValue(field);
  const single = operatorObject(field);
  const both = fc.tuple(single, single).map(([a, b]) => ({ ...a, ...b }));
  return fc.oneof(
    fc.option(bare, { nil: null, freq: 5 }),
    single,
    both,
    single.map((inner) => ({ $not: inner })),
  );
}

function operatorObject(field: Field): fc.Arbitrary<Record<string, unknown>> {
  const value = comparedValue(field);
  const nullable = fc.option(value, { nil: null, freq: 5 });
  const some: fc.Arbitrary<Record<string, unknown>>[] = [
    fc.record({ $eq: nullable }),
    fc.record({ $ne: nullable }),
    fc.record({ $in: fc.array(nullable, { maxLength: 4 }) }),
    fc.record({ $nin: fc.array(nullable, { maxLength: 4 }) }),
    fc.record({ $exists: fc.boolean() }),
  ];
  if (field.type !== 'boolean' && field.type !== 'json')
    for (const operator of ['$lt', '$lte', '$gt', '$gte']) some.push(value.map((operand) => ({ [operator]: operand })));
  if (field.type === 'string' || field.type === 'text') some.push(regex, regex);
  return fc.oneof(...some);
}

const regex = fc.record({ $regex: fc.constantFrom(...REGEXES), $options: fc.constantFrom('', 'i') });

/** Generates values that the field may be compared with. A json field compares only with null. */
function comparedValue(field: Field): fc.Arbitrary<unknown> {
  if (field.type === 'json') return fc.constant(null);
  const own = fc.constantFrom(...poolOf(field));
  // Whole numbers that JSON may have rounded are refused.
  if (field.format)
    return fc.oneof(
      own,
      own.map(Number).filter((value) => !Number.isInteger(value) || Number.isSafeInteger(value)),
      fc.constantFrom('0.5', '-1.5', '1e300', '-1e300', '9007199254740992.5', '18446744073709551616'),
    );
  if (field.type === 'integer') return fc.oneof(own, fc.constantFrom(0.5, -1.5, 1e300));
  if (field.type === 'date' || field.type === 'datetime') return fc.constantFrom(...DATES, ...DATETIMES);
  return own;
}
