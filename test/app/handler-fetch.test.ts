import { beforeEach, expect } from 'vitest';
import { test, urlOf } from '../job/webhook-fixture.ts';
import type { World } from '../support/fixture.ts';
import { deployApp } from './echo-app.ts';

/** Calls `fetch` as its body says, and returns what the response has. */
const HANDLER = `export const post = async ({ request: { body: { url, options } }, fetch }) => {
  const { status, headers, body } = await fetch(url, options);
  return { status, type: headers['content-type'], body };
};`;
const REDIRECT = { location: '/there' };

let app: string;

beforeEach<World>(async ({ admin }) => {
  app ??= await deployApp(admin, 'Fetches', {
    'server/f.js': HANDLER,
    'server/unusual.js': `export const post = async ({ request: { body: { url } }, fetch }) => {
      const own = Object.assign(Object.create(null), { a: [1, null] });
      const sent = await fetch(url, { method: 'POST', headers: [['X-A', 1], ['x-b', null]], body: own });
      const failures = [];
      for (const options of [{ headers: [['x']] }, { headers: [1] }, { body: new Date(0) }, { body: 1 }, { redirect: 'no' }])
        failures.push(await fetch(url, { method: 'POST', ...options }).catch(({ name, message }) => name + ': ' + message));
      return { body: sent.body, failures };
    };`,
  });
});

test('calls paths below /api with and without a slash', async ({ admin }) => {
  const call = async (url: string) => (await admin.post(`/apps/${app}/view/f`, { url })).body;
  for (const url of ['/api/me', 'me', './me', 'apps/../me', ' me'])
    expect(await call(url), url).toMatchObject({ status: 200, body: { username: admin.username } });
  for (const url of [
    '../me',
    'x/../../me',
    '/me',
    '//me.example/api/me',
    '\\\\me.example/api/me',
    'ht\ntps://me.example/',
  ])
    expect(await call(url), url).toMatchObject({
      statusCode: 500,
      message: expect.stringMatching(/A path must start with \/api\//),
    });
  expect(await call('ftp:me')).toMatchObject({ statusCode: 500, message: expect.stringMatching(/https: URLs/) });
});

test('sends plain objects and lists as JSON, and reads JSON', async ({ admin, receiver }) => {
  const url = urlOf(receiver);
  receiver.respond = ({ headers }, response) => {
    const { 'content-type': type, 'x-a': a, 'x-b': b } = headers;
    response.writeHead(200, { 'content-type': 'application/problem+json; charset=utf-8' });
    response.end(JSON.stringify({ type, a, b, received: receiver.requests.at(-1)!.body.toString() }));
  };
  const call = async (options: object) => (await admin.post(`/apps/${app}/view/f`, { url, options })).body.body;
  const method = 'POST';
  expect(await call({ method, body: [1, { a: null }] })).toEqual({
    type: 'application/json',
    received: '[1,{"a":null}]',
  });
  expect(await call({ method, body: {}, headers: { 'content-type': 'application/x-own' } })).toEqual({
    type: 'application/x-own',
    received: '{}',
  });
  const { body, failures } = (await admin.post(`/apps/${app}/view/unusual`, { url })).body;
  expect(body).toEqual({ type: 'application/json', a: '1', received: '{"a":[1,null]}' });
  expect(failures).toEqual([
    'TypeError: The headers of fetch() are an object, or pairs',
    'TypeError: The headers of fetch() are an object, or pairs',
    'TypeError: The body of fetch() is a text, bytes, URLSearchParams, or a plain object or list for JSON',
    'TypeError: The body of fetch() is a text, bytes, URLSearchParams, or a plain object or list for JSON',
    'TypeError: The redirect of fetch() is one of follow, manual, error',
  ]);
  receiver.respond = (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{');
  expect(await call({})).toBe('{');
});

test('follows a redirect by default, and not with another option', async ({ admin, receiver }) => {
  receiver.respond = ({ url }, response) =>
    url === '/there' ? response.end('there') : response.writeHead(302, REDIRECT).end();
  const call = async (options: object) =>
    (await admin.post(`/apps/${app}/view/f`, { url: urlOf(receiver), options })).body;
  expect(await call({})).toMatchObject({ status: 200, body: 'there' });
  expect(await call({ redirect: 'follow' })).toMatchObject({ status: 200, body: 'there' });
  expect(await call({ redirect: 'manual' })).toMatchObject({ status: 302, body: '' });
  expect(await call({ redirect: 'error' })).toMatchObject({
    statusCode: 500,
    message: expect.stringContaining('fetch() received a redirect'),
  });
});
