import { collection, resource, value } from '../present.ts';
import { redirect } from '../redirect.ts';
import { create, del, get, post, type RouteOptions } from '../route.ts';
import { USER_FIELDS } from './user.ts';

const login = resource(`user { ${USER_FIELDS} } expiresAt`, () => ({ self: '/session' }));
const current = resource(`user { ${USER_FIELDS} } tenant permissions expiresAt authMethod`, () => ({
  self: '/session',
  'svc:user': '/me',
  'svc:app-grant': '/me/app-grants',
}));
const session = resource<{ id: string }>('id address userAgent lastUsedAt expiresAt createdAt', ({ id }) => ({
  self: `/sessions/${id}`,
}));
const token = resource<{ id: string }>('id name prefix scopes client lastUsedAt expiresAt createdAt', ({ id }) => ({
  self: `/tokens/${id}`,
}));
const newToken = resource<{ id: string }>(
  'id name prefix scopes client lastUsedAt expiresAt createdAt token',
  ({ id }) => ({
    self: `/tokens/${id}`,
  }),
);

/** Rows that send the browser elsewhere: to the identity provider, and from there back to a page. */
const REDIRECT: RouteOptions = { status: 302, handler: redirect, opensPage: true };
/** The redirect URIs: one for the tenant `default`, one for each of the others. */
const CALLBACK: RouteOptions = { ...REDIRECT, queryText: 'parameters' };

const LOGIN_EXAMPLE = { username: 'ann', password: 'correct horse battery' };

export default [
  post('/login', 'login', login, { aliases: ['/auth/login'], example: LOGIN_EXAMPLE }),
  post('/login/:domain', 'login', login, {
    id: 'loginToDomain',
    summary: 'Logs in to a domain',
    example: LOGIN_EXAMPLE,
  }),
  get('/login', 'loginProviders', value('domain name href'), { id: 'listLoginProviders' }),
  get('/login/:domain', 'Mutation.startLogin', value(), REDIRECT),
  get('/login/:domain/callback', 'Mutation.finishLogin', value(), {
    ...CALLBACK,
    summary: 'Ends a login at an identity provider',
    fixed: { tenant: 'default' },
  }),
  get('/login/:domain/callback/:tenant', 'Mutation.finishLogin', value(), {
    ...CALLBACK,
    id: 'finishLoginOfTenant',
    summary: 'Ends a login at an identity provider of a tenant',
  }),
  post('/logout', 'logout'),
  get('/session', 'session', current),
  get('/sessions', 'sessions', collection('session', session)),
  del('/sessions/:id', 'deleteSession'),
  get('/tokens', 'tokens', collection('token', token)),
  create('/tokens', 'createToken', newToken, {
    example: { name: 'nightly export', scopes: ['read'], expiresAt: '2027-01-31T00:00:00.000Z' },
  }),
  del('/tokens/:id', 'deleteToken'),
];
