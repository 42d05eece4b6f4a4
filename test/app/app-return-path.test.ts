import { expect, test } from 'vitest';
import { appReturnPath } from '../../src/server/pages/app-return-path.ts';

const ID = '019e8a2c-3f4b-7c1d-8e2f-5a6b7c8d9e0f';
const OTHER = '019e8a2c-3f4b-7c1d-8e2f-5a6b7c8d9e10';
const returnPath = (returnTo: unknown) => appReturnPath({ tenant: 'default' }, { id: ID, slug: 'inbox' }, returnTo);

test.for([
  `/api/apps/${ID}/view`,
  `/api/apps/${ID}/view/`,
  `/api/apps/${ID}/view/x`,
  `/api/apps/${ID}/view?a=1`,
  `/api/apps/${ID}/view/x/y?a=/../b&c=//d`,
  `/api/apps/${ID.toUpperCase()}/view/x`,
  '/api/apps/inbox/view/x',
  '/api/apps/default:inbox/view/x',
  '/api/apps/default%3Ainbox/view/x',
  '/api/apps/inbox/view/a%2Fb',
  '/api/apps/inbox/view/a..b/...',
])('a route of the app is where its page leads afterwards: %s', (path) => {
  expect(returnPath(path)).toBe(path);
});

test.for([
  '',
  '/',
  '/api/apps',
  `/api/apps/${OTHER}/view/x`,
  '/api/apps/outbox/view/x',
  '/api/apps/inbox-2/view/x',
  '/api/apps/other:inbox/view/x',
  '/api/apps/default:default:inbox/view/x',
  '/api/apps//view/x',
  `/api/apps/${ID}`,
  `/api/apps/${ID}/_hook/x`,
  `/api/apps/${ID}/files/x`,
  `/api/apps/${ID}/view-x`,
  `/api/apps/${ID}/viewx/y`,
  `/api/apps/${ID}/view%2Fx`,
  `/api/apps/${ID}%2Fview/x`,
  `/api/apps/x%2F..%2F${ID}/view/x`,
  `/api/apps/${ID}/view/../../${OTHER}/view/x`,
  `/api/apps/${ID}/view/../files/x`,
  `/api/apps/${ID}/view/%2e%2e/files/x`,
  `/api/apps/${ID}/view/..%2F..%2F${OTHER}`,
  `/api/apps/${ID}/view/x%5C..%5C..%5Cfiles`,
  `/api/apps/${ID}/view/..\\..\\logout`,
  `/api/apps/${ID}/view/%ff`,
  '/api/apps/%ff/view/x',
  `api/apps/${OTHER}/view/x`,
  `https://evil.example/api/apps/${ID}/view/x`,
  `//evil.example/api/apps/${ID}/view/x`,
  `/\\evil.example/api/apps/${ID}/view/x`,
  `\\\\evil.example/api/apps/${ID}/view/x`,
  `\t//evil.example/api/apps/${ID}/view/x`,
  `https:/\\evil.example/api/apps/${ID}/view/x`,
  `//evil.example@service.invalid:1/api/apps/${ID}/view/x`,
  'javascript:alert(1)',
  'data:text/html,x',
  `/graphql/api/apps/${ID}/view/x`,
  [`/api/apps/${ID}/view/x`, '/'],
  null,
])('anything else leads to the start page: %s', (value) => {
  expect(returnPath(value)).toBe('/');
});

test('without a way back the page stays', () => {
  expect(returnPath(undefined)).toBe('');
});
