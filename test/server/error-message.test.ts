import { describe, expect } from 'vitest';
import { shortenMessage } from '../../src/core/shorten-message.ts';
import type { ApiResponse } from '../support/client.ts';
import { test } from '../support/fixture.ts';

const SIZE = 50_000;
/** Texts that a message must not repeat: one word, words, quotes, objects. */
const LONG_TEXTS = ['x', 'several words ', 'a "quoted" word ', '{"a": [1, "b"]} ', '\\"', '😀'].map((text) =>
  text.repeat(SIZE / text.length),
);
/** Upper bound of the messages below, whose own texts are short. */
const MAX_MESSAGE = 400;

/** Texts of an error response that may repeat the request. */
function textsOf({ body }: Pick<ApiResponse, 'body'>): string[] {
  const errors = body.errors ?? [body];
  return errors.flatMap(({ message, validation = [], extensions }: any) => [
    message,
    ...[...validation, ...(extensions?.validation ?? [])].flatMap((issue) => [issue.message, ...issue.path]),
  ]);
}

async function expectShort(response: Promise<ApiResponse>, text: string, name: string): Promise<void> {
  const received = await response;
  const { statusCode, errors } = received.body;
  const call = `${name} ${text.slice(0, 10)}`;
  expect(statusCode ?? errors?.[0].extensions.status, call).toSatisfy((status) => status >= 400 && status < 500);
  for (const part of textsOf(received)) {
    expect(String(part).length, `${call}: ${part}`).toBeLessThan(MAX_MESSAGE);
    expect(part).not.toContain(text.slice(0, 101));
  }
}

describe('an error repeats at most 100 characters of', () => {
  test('a REST request', async ({ ann }) => {
    const calls: Record<string, (text: string) => Promise<ApiResponse>> = {
      'unknown key': (text) => ann.put('/me', { [text]: 1 }),
      'unknown nested key': (text) => ann.post('/datasets', { name: 'a', flow: [{ type: 'filter', [text]: 1 }] }),
      'value of the wrong type': (text) => ann.put('/me', { superuser: text }),
      'list in place of a text': (text) => ann.put('/me', { displayName: [text, text] }),
      'object in place of a text': (text) => ann.put('/me', { displayName: { [text]: text } }),
      'unknown word of an enum': (text) =>
        ann.post('/datasets', { name: 'a', datasourceId: 'b', query: 'c', params: [{ name: 'p', dataType: text }] }),
      permission: (text) => ann.put('/me', { permissions: [text] }),
      'id in the body': (text) => ann.post('/datasets', { name: 'a', datasourceId: text, query: 'select 1' }),
      name: (text) => ann.post('/tags', { name: text }),
      'datasource type': (text) => ann.post('/datasources', { name: 'a', type: text, config: {} }),
      JSON: (text) => ann.put('/me', `{${text}`, { 'content-type': 'application/json' }),
      'text of a placeholder': (text) => ann.post('/datasets', { name: 'a', query: `{{${text}}}`, datasourceId: 'x' }),
      'file name': (text) => {
        const form = new FormData();
        form.append('file', new Blob(['\0\0']), text.slice(0, 10_000));
        return ann.request('POST', '/api/datasources/_upload', form);
      },
      // Headers, and so paths, have at most 16 kB.
      'id in the path': (text) => ann.get(`/users/${encodeURIComponent(text.slice(0, 480)).slice(0, 480)}`),
      'unknown path': (text) => ann.get(`/nope/${'x'.repeat(text.length / 40)}`),
      'unknown method': (text) => ann.delete(`/files/${'x'.repeat(text.length / 40)}`),
      'unknown parameter': (text) => ann.get(`/datasets?${encodeURIComponent(text.slice(0, 1000).toWellFormed())}=1`),
      'value of a parameter': (text) =>
        ann.get(`/datasets?sort=${encodeURIComponent(text.slice(0, 1000).toWellFormed())}`),
      number: (text) => ann.get(`/datasets?limit=${encodeURIComponent(text.slice(0, 1000).toWellFormed())}`),
    };
    for (const [name, call] of Object.entries(calls))
      for (const text of LONG_TEXTS) await expectShort(call(text), text, name);
  });

  test('a GraphQL request', async ({ ann }) => {
    const post = (query: string, variables?: object, operationName?: string) =>
      ann.request('POST', '/graphql', { query, variables, operationName });
    const calls: Record<string, (text: string) => Promise<ApiResponse>> = {
      argument: (text) => post(`{ user(username: ${JSON.stringify(text)}) { id } }`),
      'argument of the wrong type': (text) => post(`{ users(limit: ${JSON.stringify(text)}) { count } }`),
      'literal of the wrong type': (text) =>
        post(`{ users(limit: {${'a: "b", '.repeat(1000)} c: ${JSON.stringify(text)}}) { count } }`),
      'block text': (text) => post(`{ users(limit: """${text}""") { count } }`),
      variable: (text) => post('query Q($n: String!) { user(username: $n) { id } }', { n: text }),
      'variable of the wrong type': (text) => post('query Q($n: Int) { users(limit: $n) { count } }', { n: text }),
      list: (text) => post('query Q($n: Int) { users(limit: $n) { count } }', { n: [text, [text]] }),
      object: (text) => post('query Q($n: Int) { users(limit: $n) { count } }', { n: { a: text, [text]: 1 } }),
      'unknown key of an input': (text) =>
        post('mutation M($i: UpdateMeInput!) { updateMe(input: $i) { id } }', { i: { [text]: 1 } }),
      'operation name': (text) => post('query Q { me { id } }', {}, text),
      'a field': () => post(`{ ${'x'.repeat(SIZE)} }`),
      'a type': () => post(`query Q($a: ${'X'.repeat(SIZE)}) { me { id } }`),
      fragment: () => post(`{ ...${'x'.repeat(SIZE)} }`),
      enum: () => post(`{ operations(status: ${'X'.repeat(SIZE)}) { total } }`),
      syntax: (text) => post(`{ me { id } } ${text}`),
      number: () => post(`{ users(limit: ${'1'.repeat(SIZE)}) { count } }`),
      directive: () => post(`{ me @${'x'.repeat(SIZE)} { id } }`),
    };
    for (const [name, call] of Object.entries(calls))
      for (const text of LONG_TEXTS) await expectShort(call(text), text, name);
  });
});

describe('a message', () => {
  test('is cut where a quoted text, list, object or word is longer than 100 characters', () => {
    const x = (length: number) => 'x'.repeat(length);
    for (const [message, short] of [
      [`There is no user ${x(100)}`, `There is no user ${x(100)}`],
      [`"${x(100)}" and "${x(101)}" differ`, `"${x(100)}" and "${x(100)}…" differ`],
      [`got ["${x(101)}", 1]; expected`, `got ["${x(99)}…]; expected`],
      [`got {"a": "]}${x(101)}"} at "b"`, `got {"a": "]}${x(92)}…} at "b"`],
      [`a word ${x(100)}`, `a word ${x(100)}`],
      [`a word ${x(101)}, and`, `a word ${x(100)}… and`],
      [`block """${x(50)}" ${x(50)}""" text`, `block """${x(50)}" ${x(46)}…" text`],
      [`"${x(10_000_000)}" is unknown`, `"${x(100)}…" is unknown`],
      [`got [{${'"a", '.repeat(1_000_000)}}]; expected`, `got [{${'"a", '.repeat(20).slice(0, 99)}…]; expected`],
      ['word '.repeat(400), 'word '.repeat(400)],
      ['word '.repeat(600), `${'word '.repeat(500)}…`],
    ])
      expect(shortenMessage(message!)).toBe(short);
    for (const text of ['x', ' ', '; Field "', '" is not defined by type "', '"', '[{"', '\\"'])
      expect(shortenMessage(text.repeat(1_000_000)).length).toBeLessThanOrEqual(2501);
  });
});
