import { collection, resource, value, type Presenter } from '../present.ts';
import { create, del, EXAMPLE_ID, get, plain, put, type Json, type RouteOptions } from '../route.ts';
import { membership } from './team.ts';

interface User {
  username: string;
  superuser: boolean;
}

export const USER_FIELDS = `id username domain displayName givenName familyName middleName email enabled superuser
  timezone settings locked lockedAt loginAttempts passwordSetAt passwordExpiresAt avatarUrl createdAt updatedAt`;
const links = ({ username }: User) => ({
  self: `/users/${encodeURIComponent(username)}`,
  'svc:membership': `/users/${encodeURIComponent(username)}/memberships`,
});

const PRIVATE_FIELDS = ['settings', 'locked', 'lockedAt', 'loginAttempts', 'passwordSetAt', 'passwordExpiresAt'];

/**
 * Removes the private fields that GraphQL returns as null to callers without `users:view`. `locked` is null only for
 * them. See docs/contract/people.md#users.
 */
function removeHiddenFields<T extends Json>(record: T): T {
  if (record['locked'] === null) for (const name of PRIVATE_FIELDS) delete record[name];
  return record;
}

/** Wraps a presenter so that its records lack the hidden fields. */
const withoutHiddenFields = (presenter: Presenter): Presenter => ({
  on(type, field, within) {
    const inner = presenter.on(type, field, within);
    const present: typeof inner.present = (data, request) => {
      const printed = inner.present(data, request) as Json | Json[];
      return Array.isArray(printed) ? printed.map(removeHiddenFields) : removeHiddenFields(printed);
    };
    return { ...inner, optional: PRIVATE_FIELDS, present };
  },
});

const FOR_SUPERUSERS: RouteOptions = { permission: 'tenant:superuser' };

const user = withoutHiddenFields(resource<User>(USER_FIELDS, links, { identity: ['superuser'] }));
const created = resource<User>('username displayName enabled createdAt', links);
const superuser = value('username superuser');
const permissions = value('', (list) => ({ permissions: list }), {
  type: 'object',
  properties: { permissions: { type: 'array', items: { type: 'string' } } },
  required: ['permissions'],
});

const PERMISSIONS_EXAMPLE = { permissions: ['datasets:create', 'reports:create'] };
const CONTENT_EXAMPLE = [
  {
    userId: EXAMPLE_ID,
    username: 'ann',
    displayName: 'Ann',
    counts: { datasource: 1, query: 2, dataset: 3, report: 1, app: 0 },
    total: 7,
  },
];
const MENU_EXAMPLE = {
  templates: [
    {
      id: 'content',
      name: 'Content',
      items: [{ id: 'datasets', label: 'Datasets', path: '/api/datasets', icon: 'table' }],
    },
  ],
};

export default [
  get('/users', 'users', collection('user', user)),
  get('/users-list', 'usersList', withoutHiddenFields(value(USER_FIELDS)), { id: 'listAllUsers' }),
  get('/users-content', 'usersContent', value('userId username displayName counts total'), {
    responseExample: CONTENT_EXAMPLE,
  }),
  create('/users', 'createUser', created, {
    example: {
      username: 'bob',
      password: 'correct horse battery',
      displayName: 'Bob',
      email: 'bob@example.com',
      enabled: true,
    },
  }),
  get('/users/:username', 'user', user),
  put('/users/:username', 'updateUser', user, { example: { displayName: 'Bob B.', enabled: false } }),
  del('/users/:username', 'deleteUser', undefined, { query: ['transferTo'] }),
  get('/me', 'me', user),
  put('/me', 'updateMe', user, {
    identity: ['id', 'createdAt', 'username', 'domain', 'superuser', ...PRIVATE_FIELDS.slice(1), 'enabled'],
    example: { displayName: 'Ann A.', timezone: 'Europe/Berlin' },
  }),
  put('/me/password', 'changePassword', undefined, {
    example: { currentPassword: 'correct horse battery', password: 'staple of a battery' },
  }),
  plain('GET', '/top-menu-templates', 'topMenuTemplates', { responseExample: MENU_EXAMPLE }),
  put('/users/:username/theme', 'setTheme', user, { example: { theme: 'dark' } }),
  get('/users/:username/memberships', 'user.memberships', collection('membership', membership)),
  get('/users/:username/global-permissions', 'user.globalPermissions', permissions, {
    ...FOR_SUPERUSERS,
    responseExample: PERMISSIONS_EXAMPLE,
  }),
  put('/users/:username/global-permissions', 'setGlobalPermissions', permissions, {
    example: PERMISSIONS_EXAMPLE,
  }),
  get('/users/:username/superuser', 'user.superuserState', superuser, {
    ...FOR_SUPERUSERS,
    id: 'getSuperuser',
    summary: 'Returns whether a user is a superuser',
    responseExample: { username: 'ann', superuser: false },
  }),
  put('/users/:username/superuser', 'setSuperuser', superuser, { example: { superuser: true } }),
  del('/users/:username/superuser', 'setSuperuser', undefined, {
    id: 'revokeSuperuser',
    summary: 'Revokes the superuser status of a user',
    fixed: { superuser: false },
  }),
];
