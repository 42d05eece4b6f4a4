import { describe, expect, test } from 'vitest';
import { decodeUtf8 } from '../../src/core/input-text.ts';
import { parseJsonInSteps } from '../../src/core/json-pieces.ts';

/** Longer than a piece. */
const LONG = 'x'.repeat(100_000);
const list = (length: number, item: (n: number) => string): string => Array.from({ length }, (_, n) => item(n)).join();
const ITEMS = list(20_000, (n) => `{"n": ${n}}`);

type Outcome = { value: unknown; steps?: number } | { error: string };

function outcomeOf(parse: () => Outcome): Outcome {
  try {
    return parse();
  } catch (error) {
    return { error: String(error) };
  }
}

const parseInSteps = (bytes: Buffer, inspect: (text: string) => void = () => {}) =>
  outcomeOf(() => {
    const steps = parseJsonInSteps(bytes, inspect);
    for (let count = 0; ; count += 1) {
      const { done, value } = steps.next();
      if (done) return { value, steps: count };
    }
  });

const parseWhole = (bytes: Buffer) =>
  outcomeOf(() => ({ value: JSON.parse(decodeUtf8(bytes).replace(/^\ufeff/, '')) }));

/** Expects the value of JSON.parse with its keys in their order, or its error. */
function expectSame(text: string | Buffer): void {
  const bytes = Buffer.from(text as string);
  const { steps: _, ...outcome } = parseInSteps(bytes) as { steps?: number };
  const whole = parseWhole(bytes);
  if ('error' in whole) expect(outcome).toEqual(whole);
  // An own key `__proto__` is printed, a prototype is not. The texts are too long for a report.
  else expect(JSON.stringify(outcome) === JSON.stringify(whole)).toBe(true);
}

describe('a long JSON text that is parsed in pieces has the value of JSON.parse:', () => {
  test.for<[name: string, text: string]>([
    ['objects in a list', `[${ITEMS}]`],
    ['a list in objects', `{"query": "{ me { id } }", "variables": {"rest": [${ITEMS}]}, "x": 1}`],
    ['several lists', `{"a": [${ITEMS}], "b": {"c": [${ITEMS}]}, "d": [[[${ITEMS}]], [], {}]}`],
    ['members after a long value', `[[${ITEMS}] , {"a": {"b": [${ITEMS}] } } , 1, "x" ]`],
    ['many keys', `{${list(20_000, (n) => `"k${n}": ${n}`)}}`],
    ['keys that are repeated', `{${list(20_000, (n) => `"k${n % 7}": ${n}`)}}`],
    ['a long value under a repeated key', `{"a": [${ITEMS}], "b": 1, "a": {"c": [${ITEMS}]}, "a": 2, "b": []}`],
    ['keys that are numbers', `{"b": 1, "10": [${ITEMS}], "9": 2, "a": {}}`],
    ['the key __proto__', `{"__proto__": [${ITEMS}], "a": {"__proto__": {"x": [${ITEMS}], "__proto__": 1}}}`],
    ['a long text', `{"a": "${LONG}", "b": ["${LONG}${LONG}", "\\"${LONG}\\\\"]}`],
    ['a text alone', `"${LONG}"`],
    ['a number alone', '1'.repeat(100_000)],
    ['a long key', `{"a": {"${LONG}": {"b": [${ITEMS}]}}}`],
    ['brackets and quotes in texts', `[${list(20_000, () => '"\\"]},[{\\\\", "{"')}]`],
    ['deep lists', `${'['.repeat(200_000)}1${']'.repeat(200_000)}`],
    ['deep objects', `${'{"a":'.repeat(30_000)}1${'}'.repeat(30_000)}`],
    ['white space', `\n\t [ \r\n${ITEMS.replaceAll(',', ' ,\n ')} ]${' '.repeat(100_000)}`],
    ['characters of several bytes', `["${'я😀'.repeat(20_000)}", ${list(20_000, () => '"é", "日本"')}]`],
    ['a byte order mark', `\ufeff[${ITEMS}]`],
  ])('%s', ([, text]) => {
    // Deep values cannot be compared by functions that call themselves.
    if (text.includes('['.repeat(2000)) || text.includes('{"a":{"a":{"a":'))
      expect(print(parseInSteps(Buffer.from(text)))).toBe(print(parseWhole(Buffer.from(text))));
    else expectSame(text);
  });

  test('with bytes that are not UTF-8', () => {
    for (const bad of ['\xe9', '\xe2\x82', '\xff', '\xed\xa0\x80'])
      expectSame(Buffer.from(`{"a": [${list(20_000, (n) => `"${bad}${n}", "\xef\xbf\xbd"`)}]}`, 'latin1'));
  });
});

/** Returns the way down through the first members of a value, which may be deep. */
function print(outcome: Outcome): string {
  let value: unknown = outcome;
  let path = '';
  while (typeof value === 'object' && value !== null) {
    const [[key, inner]] = Object.entries(value) as [[string, unknown]];
    path += Array.isArray(value) ? '[' : `${key} `;
    value = inner;
  }
  return path + String(value);
}

describe('a long text that is not JSON has the error of JSON.parse:', () => {
  const valid = `{"a": [${ITEMS}],\n "b": {"c": "я", "d": [${ITEMS}, {}, [${ITEMS}]]}}`;

  test.for([
    ...[...'{}[],:"1x\u0001\n\\', 'null', ' 1', ',,', '"a"', '[]', '{}', '"a":1,', '\\u00'].map(
      (inserted) => [`inserted ${JSON.stringify(inserted)}`, inserted, 0] as const,
    ),
    ...[1, 2, 5, 100_000].map((count) => [`without ${count} characters`, '', count] as const),
  ])('%s', ([, inserted, removed]) => {
    const lengths = [0, 1, 7, 5000, 80_000, 180_000, 250_000, 340_001, 400_000, valid.length - 2, valid.length];
    for (const [n, length] of lengths.entries()) {
      // Around structural characters, too.
      const at = n % 2 ? valid.lastIndexOf(',', length) + 1 : length;
      expectSame(valid.slice(0, at) + inserted + valid.slice(at + removed));
    }
  });

  test.for([
    ['nothing but white space', ' '.repeat(100_000)],
    ['no member before a comma', `[ ${' '.repeat(100_000)},1]`],
    ['no member after a comma', `[${ITEMS}, ${' '.repeat(100_000)}]`],
    ['two values', `[${ITEMS}]${' '.repeat(100_000)}[${ITEMS}]`],
    ['two values with a comma', `[${ITEMS}],${' '.repeat(100_000)}1`],
    ['values without a list', ITEMS],
    ['no comma after a long value', `[[${ITEMS}]5, [${ITEMS}]]`],
    ['no comma between long values', `[[${ITEMS}] [${ITEMS}]]`],
    ['no colon', `{"a" [${ITEMS}]}`],
    ['a sign before a list', `{"a": - [${ITEMS}]}`],
    ['no key', `{[${ITEMS}]}`],
    ['another bracket', `{"a": [${ITEMS}}, "b": 1]`],
    ['a bracket too many', `[${ITEMS}]${' '.repeat(50)}]`],
    ['no end', `{"a": {"b": [${ITEMS}`],
    ['a text without an end', `["${LONG}`],
    ['an error after line breaks', `[\r\n1,\r2,\n${ITEMS.replaceAll('}', '\r\n}')},\n\r  x]`],
    ['an error after characters of several bytes', `[${list(20_000, () => '"я😀"')}\n, "é", x]`],
  ] as const)('%s', ([, text]) => expectSame(text));
});

test('random texts have the value or the error of JSON.parse', () => {
  let seed = 1;
  const random = (below: number) => {
    seed = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return ((seed ^ (seed >>> 13)) >>> 0) % below;
  };
  const pick = <T>(items: readonly T[]): T => items[random(items.length)]!;
  const blank = () => (random(20) ? '' : pick([' ', '\n', '\r\n', '\t']));
  const text = () => pick(['""', '"a"', '"__proto__"', '"\\"\\\\"', '"я😀"', `"k${random(99)}"`]);
  const value = (depth: number, length = random(2000) ? random(4) : 2000): string => {
    const kind = random(depth > 0 ? 4 : 2);
    if (kind === 0) return text();
    if (kind === 1) return pick(['0', '-1.5e3', 'true', 'null', String(seed)]);
    const members = list(
      length,
      () => blank() + (kind === 2 ? '' : `${text()}${blank()}:`) + value(depth - 1) + blank(),
    );
    return kind === 2 ? `[${members}]` : `{${members}}`;
  };
  for (let n = 0; n < 15; n += 1) {
    const long = `{"a": ${value(4, 3000)}, "b": [${list(3000, () => value(3))}]}`;
    expectSame(long);
    const at = random(long.length);
    expectSame(long.slice(0, at) + pick([...'{}[],:"x\u0001\n1\\', '']) + long.slice(at + random(3)));
  }
});

test('a step parses at most some 80 kB, and each key and text is inspected as a whole', () => {
  const inspected: string[] = [];
  const bytes = Buffer.from(`{"rest": [${ITEMS}], "last \\u0041": "${LONG}"}`);
  const outcome = parseInSteps(bytes, (text) => inspected.push(text));
  expect(outcome).toHaveProperty('steps');
  const lengths = inspected.map(({ length }) => length);
  expect(lengths.filter((length) => length > 82_000)).toEqual([expect.toSatisfy((length) => length > LONG.length)]);
  expect((outcome as { steps: number }).steps).toBeGreaterThan(bytes.length / 82_000);
  expect(inspected.filter((text) => text.includes('"last \\u0041": "xxx'))).toHaveLength(1);
  expect(inspected.join('').match(/"n"/g)).toHaveLength(20_000);
});
