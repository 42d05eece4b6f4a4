import { describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import { decodeUtf8 } from '../../src/core/input-text.ts';
import { expectBody, expectInvalid } from '../support/expect.ts';
import { test } from '../support/fixture.ts';

const NOT_UNICODE = 'must be well-formed Unicode, encoded in UTF-8';
const HAS_NUL = 'must not contain the character U+0000';

/** Inputs of `PUT /api/me`, and the issues of their texts. */
const CASES: [input: object, issues: [path: string, message: string][]][] = [
  [{ displayName: 'a\ud800b' }, [['displayName', `displayName ${NOT_UNICODE}`]]],
  [{ displayName: 'a\u0000b' }, [['displayName', `displayName ${HAS_NUL}`]]],
  [
    { settings: { list: ['a', '\udfff', '\0'] } },
    [
      ['settings.list.1', `settings.list.1 ${NOT_UNICODE}`],
      ['settings.list.2', `settings.list.2 ${HAS_NUL}`],
    ],
  ],
  [{ settings: { 'a\udc00': 1 } }, [['settings.a\ufffd', `settings.a\ufffd ${NOT_UNICODE}`]]],
];

const print = (validation: { path: (string | number)[]; message: string }[] | undefined) =>
  validation?.map(({ path, message }) => [path.join('.'), message]);

describe('a text that is not Unicode, or has a U+0000, is 400 with its path', () => {
  test('in every key of a JSON body, and in the variables of GraphQL under any name', async ({ ann }) => {
    const before = (await ann.get('/me')).body;
    for (const [input, issues] of CASES) {
      const rest = await ann.put('/me', input);
      expect([rest.status, print(rest.body.validation)]).toEqual([400, issues]);
      for (const name of ['input', 'other']) {
        const mutation = `mutation ($${name}: UpdateMeInput!) { updateMe(input: $${name}) { id } }`;
        const { status, errors, data } = await ann.gql(mutation, { [name]: input });
        expect([status, print(errors[0].extensions.validation), data]).toEqual([400, issues, undefined]);
      }
    }
    expect((await ann.get('/me')).body).toEqual(before);
  });

  test('in literals of a GraphQL document', async ({ ann }) => {
    const mutation = 'mutation { updateMe(input: {settings: {list: ["a", "b\\u0000"]}}) { id } }';
    const { status, errors } = await ann.gql(mutation);
    expect(status).toBe(400);
    expect(print(errors[0].extensions.validation)).toEqual([['settings.list.1', `settings.list.1 ${HAS_NUL}`]]);
    for (const text of ['\\ud800', '\ud800']) {
      const surrogate = await ann.gql(`mutation {\n updateMe(input: {displayName: "${text}"}) { id } }`);
      expect(surrogate).toMatchObject({ status: 400, errors: [{ locations: [{ line: 2 }] }] });
    }
  });

  test('in the query string and in texts of a form', async ({ ann, admin }) => {
    await expectInvalid(ann.get('/datasets?q=a%00b'), 'q', `q ${HAS_NUL}`);
    await expectInvalid(ann.get('/datasets?tag=%00'), 'tag', `tag ${HAS_NUL}`);
    const form = new FormData();
    form.append('name', 'a\0b');
    form.append('file', new Blob(['a\n1']), 'a.csv');
    await expectInvalid(admin.request('POST', '/api/datasources/_upload', form), 'name', `name ${HAS_NUL}`);
  });

  test('over a WebSocket', async ({ ann }) => {
    const socket = new WebSocket(`${ann.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    const next = () =>
      new Promise<any>((resolve) => socket.once('message', (data) => resolve(JSON.parse(String(data)))));
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(JSON.stringify({ type: 'connection_init', payload: ann.headers }));
    expect(await next()).toMatchObject({ type: 'connection_ack' });
    const query = 'query ($name: String) { datasets(q: $name) { total } }';
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables: { name: '\ud800' } } }));
    expect(await next()).toMatchObject({
      type: 'error',
      payload: [{ extensions: { validation: [{ path: ['q'], message: `q ${NOT_UNICODE}` }] } }],
    });
    socket.close();
  });
});

describe('a body with bytes that are not UTF-8', () => {
  const send = async (url: string, method: string, body: Buffer, headers: Record<string, string>) => {
    const init = { method, body: new Uint8Array(body), headers: { ...headers, 'content-type': 'application/json' } };
    const response = await fetch(url, init);
    return { status: response.status, headers: response.headers, body: (await response.json()) as any };
  };

  test('is 400 with the path of the text that has them', async ({ ann }) => {
    const rest = Buffer.from('{"displayName": "good \xef\xbf\xbd", "settings": {"a": ["Caf\xe9"]}}', 'latin1');
    const issue = ['settings.a.0', `settings.a.0 ${NOT_UNICODE}`];
    const received = await send(`${ann.url}/api/me`, 'PUT', rest, ann.headers);
    expect([received.status, print(received.body.validation)]).toEqual([400, [issue]]);

    const query = 'mutation ($input: UpdateMeInput!) { updateMe(input: $input) { id } }';
    const graphql = Buffer.from(`{"query": "${query}", "variables": {"input": ${rest.toString('latin1')}}}`, 'latin1');
    const { status, body } = await send(`${ann.url}/graphql`, 'POST', graphql, ann.headers);
    expect([status, print(body.errors[0].extensions.validation)]).toEqual([400, [issue]]);
  });

  test('is malformed JSON where they are outside of texts', async ({ ann }) => {
    const body = Buffer.from('{"displayName": \xe9}', 'latin1');
    const response = send(`${ann.url}/api/me`, 'PUT', body, ann.headers);
    await expectBody(response, 400, { message: expect.stringMatching(/^The body is not well-formed JSON: /) });
  });

  test('keeps every other character, also U+FFFD', () => {
    expect(decodeUtf8(Buffer.from('a\ufffdé😀'))).toBe('a\ufffdé😀');
    const cut = Buffer.concat([Buffer.from('\ufffdé'), Buffer.from([0xf0, 0x9f]), Buffer.from('\ufffd')]);
    expect(decodeUtf8(cut)).toBe('\ufffdé\ud800\ufffd');
  });
});
