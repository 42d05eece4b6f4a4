import { collection, resource } from '../present.ts';
import { create, del, get, post } from '../route.ts';
import { USER_FIELDS } from './user.ts';

const login = resource(`user { ${USER_FIELDS} } expiresAt`, () => ({ self: '/session' }));
const current = resource(`user { ${USER_FIELDS} } tenant permissions expiresAt authMethod`, () => ({
  self: '/session',
  'svc:user': '/me',
}));
const session = resource<{ id: string }>('id address userAgent lastUsedAt expiresAt createdAt', ({ id }) => ({
  self: `/sessions/${id}`,
}));
const token = resource<{ id: string }>('id name prefix scopes lastUsedAt expiresAt createdAt', ({ id }) => ({
  self: `/tokens/${id}`,
}));
const newToken = resource<{ id: string }>('id name prefix scopes lastUsedAt expiresAt createdAt token', ({ id }) => ({
  self: `/tokens/${id}`,
}));

export default [
  post('/login', 'login', login),
  post('/login/:domain', 'login', login),
  post('/logout', 'logout'),
  get('/session', 'session', current),
  get('/sessions', 'sessions', collection('session', session)),
  del('/sessions/:id', 'deleteSession'),
  get('/tokens', 'tokens', collection('token', token)),
  create('/tokens', 'createToken', newToken),
  del('/tokens/:id', 'deleteToken'),
];
