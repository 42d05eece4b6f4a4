import { describe, expect, test } from 'vitest';
import { bindRequest } from '../../src/services/agent/tools/bind-arguments.ts';

const request = (more: object) => ({ url: 'https://api.example.com/', method: 'POST', headers: {}, ...more });
const urlOf = (url: string, args: Record<string, unknown>) => bindRequest(request({ url }), args).url;
const bodyOf = (body: unknown, args: Record<string, unknown>, headers = {}) =>
  bindRequest(request({ body, headers }), args).body;

describe('arguments in a URL', () => {
  test('stay one part of it', () => {
    const url = 'https://api.example.com/items/{{id}}?q={{ q }}&limit=5';
    expect(urlOf(url, { id: 'a/b?c#d', q: 'x&admin=true %2e' })).toBe(
      'https://api.example.com/items/a%2Fb%3Fc%23d?q=x%26admin%3Dtrue%20%252e&limit=5',
    );
    expect(urlOf(url, { id: 7, q: { a: [1, true] } })).toBe(
      'https://api.example.com/items/7?q=%7B%22a%22%3A%5B1%2Ctrue%5D%7D&limit=5',
    );
    expect(urlOf(url, { id: 'x' })).toBe('https://api.example.com/items/x?q=&limit=5');
  });

  test.each(['.', '..', ''])('cannot leave their path: %j', (id) => {
    expect(() => urlOf('https://api.example.com/users/{{id}}/items', { id })).toThrow(/^id must not be empty/);
  });

  test('cannot form a path of dots together', () => {
    expect(() => urlOf('https://api.example.com/{{a}}{{b}}/x', { a: '.', b: '.' })).toThrow(/^a must not/);
    expect(() => urlOf('https://api.example.com/.{{a}}/x', { a: '.' })).toThrow(/^a must not/);
    expect(urlOf('https://api.example.com/{{a}}.json', { a: '..' })).toBe('https://api.example.com/...json');
  });

  test('are not arguments that an object inherits', () => {
    expect(urlOf('https://api.example.com/?a={{constructor}}&b={{__proto__}}', {})).toBe(
      'https://api.example.com/?a=&b=',
    );
  });

  test('do not hide further placeholders', () => {
    expect(urlOf('https://api.example.com/?a={{a}}&b={{b}}', { a: '{{b}}', b: 'x' })).toBe(
      'https://api.example.com/?a=%7B%7Bb%7D%7D&b=x',
    );
  });
});

describe('arguments in a header', () => {
  const headerOf = (value: unknown) => bindRequest(request({ headers: { 'X-Name': 'a {{v}}' } }), { v: value }).headers;

  test('are texts of one line', () => {
    expect(headerOf('b c')).toEqual({ 'X-Name': 'a b c' });
    expect(headerOf(5)).toEqual({ 'X-Name': 'a 5' });
    for (const value of ['x\r\nHost: evil', 'x\ny', 'a\0b', 'Zoë €'])
      expect(() => headerOf(value)).toThrow(/^v must not contain control characters/);
  });
});

describe('arguments in a body', () => {
  test('keep their type if they are all of a value', () => {
    const body = { n: '{{n}}', list: ['{{l}}', 'x {{s}} y'], 'key {{s}}': null, missing: '{{none}}' };
    expect(JSON.parse(bodyOf(body, { n: 5, l: [1, { a: 2 }], s: '"}, "admin": true' })!)).toEqual({
      n: 5,
      list: [[1, { a: 2 }], 'x "}, "admin": true y'],
      'key "}, "admin": true': null,
    });
  });

  test('that are absent leave their key out, and null in a list', () => {
    const body = { a: '{{a}}', list: ['{{a}}', '{{n}}'], inner: { a: '{{a}}', n: '{{n}}' }, text: 'x{{a}}' };
    expect(JSON.parse(bodyOf(body, { n: null })!)).toEqual({ list: [null, null], inner: { n: null }, text: 'x' });
  });

  test('are JSON in a text', () => {
    const args = { s: 'a"b\\c\n', n: 5, o: { x: ['"'] } };
    const text = bodyOf('{"s": "<{{s}}>", "n": {{n}}, "o": {{o}}, "q": "\\"{{s}}", "none": {{none}}}', args)!;
    expect(JSON.parse(text)).toEqual({ s: '<a"b\\c\n>', n: 5, o: { x: ['"'] }, q: '"a"b\\c\n', none: null });
  });

  test('are encoded in a form', () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    expect(bodyOf('a={{a}}&b=1', { a: 'x&b=2' }, headers)).toBe('a=x%26b%3D2&b=1');
  });

  test('are absent with GET', () => {
    expect(bindRequest({ ...request({ body: 'x' }), method: 'GET' }, {}).body).toBeNull();
  });

  test('have a media type', () => {
    expect(bindRequest(request({ body: { a: 1 } }), {}).headers).toEqual({ 'content-type': 'application/json' });
    expect(bindRequest(request({ body: 'x', headers: { 'Content-Type': 'text/csv' } }), {}).headers).toEqual({
      'Content-Type': 'text/csv',
    });
  });
});

describe('a request', () => {
  test('with very many placeholders is bound in one pass', () => {
    const startedAt = performance.now();
    expect(bodyOf('"{{a}}" {{a}} '.repeat(40_000), { a: 'b"' })).toHaveLength(40_000 * 12);
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  test('does not repeat a long argument without end', () => {
    const args = { a: 'b'.repeat(60_000) };
    expect(bodyOf({ x: '{{a}}'.repeat(60) }, args)).toHaveLength(60 * 60_000 + 8);
    for (const body of ['"{{a}}"'.repeat(100), { x: '{{a}}'.repeat(100) }])
      expect(() => bodyOf(body, args)).toThrow(/^The arguments are too large/);
  });
});
