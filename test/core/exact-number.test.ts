import { expect, test } from 'vitest';
import { exactJson, mapJsonNumbers, survivesAsNumber } from '../../src/core/exact-number.ts';

test.each([
  ['9007199254740991', true],
  ['9007199254740993', false],
  ['9007199254740994', true],
  ['-9007199254740993', false],
  ['1234567890123.4567', false],
  ['0.30000000000000004', true],
  ['0.1234567890123456789', false],
  ['1.50', true],
  ['1e400', false],
  ['1e-400', false],
  ['1e300', true],
  ['1.7976931348623157e308', true],
  ['0', true],
  ['NaN', false],
])('%s survives as a JSON number: %s', (number, expected) => {
  expect(survivesAsNumber(number)).toBe(expected);
});

test.each([
  ['{"id":9007199254740993}', '{"id":"9007199254740993"}'],
  ['[-9007199254740993, 1.5,1234567890123.4567]', '["-9007199254740993", 1.5,"1234567890123.4567"]'],
  ['1234567890123.4567', '"1234567890123.4567"'],
  ['{"a":1e400,"b":2E-999}', '{"a":"1e400","b":"2E-999"}'],
  ['{"9007199254740993":"9007199254740993"}', '{"9007199254740993":"9007199254740993"}'],
  [
    String.raw`["\"9007199254740993","\\",9007199254740993]`,
    String.raw`["\"9007199254740993","\\","9007199254740993"]`,
  ],
  ['{"a":1.50,"b":[0.30000000000000004,12]}', '{"a":1.50,"b":[0.30000000000000004,12]}'],
  ['null', 'null'],
])('numbers in %s that would lose digits are texts', (text, expected) => {
  expect(exactJson(text)).toBe(expected);
  expect(JSON.parse(exactJson(text))).toEqual(JSON.parse(expected));
});

test('numbers of a text in pieces are mapped like numbers of the whole text', () => {
  const text = String.raw`[{"a b\"1.5":-12.5e+3,"ü\\":"x, 7"},1.25,true,[0,-0.5],"\\\"",3E2]`;
  const map = (number: string) => `<${number}>`;
  const whole = mapJsonNumbers(text, map).mapped;
  expect(whole).toBe(String.raw`[{"a b\"1.5":<-12.5e+3>,"ü\\":"x, 7"},<1.25>,true,[<0>,<-0.5>],"\\\"",<3E2>]`);
  for (let size = 1; size < text.length; size++) {
    let [mapped, rest] = ['', ''];
    for (let at = 0; at < text.length; at += size) {
      const read = mapJsonNumbers(rest + text.slice(at, at + size), map, false);
      mapped += read.mapped;
      rest = read.rest;
    }
    expect(mapped + mapJsonNumbers(rest, map).mapped).toBe(whole);
  }
});
