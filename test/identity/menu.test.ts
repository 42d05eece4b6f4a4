import { describe, expect } from 'vitest';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf } from '../../src/server/graphql/sdl.ts';
import { MENUS } from '../../src/services/identity/menu.ts';
import type { Client } from '../support/client.ts';
import { expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';

interface Menu {
  id: string;
  name: string;
  items: { id: string; label: string; path: string; icon: string }[];
}

const ENTRIES = MENUS.flatMap(({ items }) => items);
const endpoints = endpointsOf(await createSchema());

const menusOf = async (client: Client): Promise<Menu[]> => (await client.get('/top-menu-templates')).body.templates;
const pathsOf = (menus: Menu[]) => menus.flatMap(({ items }) => items.map(({ path }) => path));
const statusOf = async (client: Client, path: string) => (await client.request('GET', path)).status;

/** Lists in no menu: lists of the caller alone, of choices for forms, and of parts of a resource. */
const IN_NO_MENU = [
  '/sessions',
  '/tokens',
  '/progress',
  '/notifications',
  '/me/app-grants',
  '/me/favorites',
  '/search',
  '/datasource-drivers',
  '/link-types',
  '/job-drivers',
  '/job-action-drivers',
  '/template-drivers',
  '/toolkit-drivers',
  '/integrations',
  '/clients',
  '/field-usage',
  '/visual-components',
  '/dataset-filters',
];

describe('the menus', () => {
  test('lead to lists of the table of routes, each once', () => {
    const routes = endpoints.map(({ row }) => `${row.method} /api${row.path} ${row.field}`);
    for (const { path, field } of ENTRIES) expect(routes).toContain(`GET ${path} ${field}`);
    expect(new Set(ENTRIES.map(({ id }) => id)).size).toBe(ENTRIES.length);
  });

  test('have every list without parameters, except those that are meant to be in none', () => {
    const lists = endpoints
      .filter(({ row, presentation }) => row.method === 'GET' && presentation?.collection && !row.path.includes(':'))
      .map(({ row }) => row.path);
    const missing = lists.filter((path) => !ENTRIES.some((entry) => entry.path === `/api${path}`));
    expect(missing.toSorted()).toEqual(IN_NO_MENU.toSorted());
  });

  test('of a superuser have every entry, which leads to a list that they may open', async ({ service, admin }) => {
    const session = await service.login(admin.username);
    const menus = await menusOf(session);
    expect(menus.map(({ id, name }) => [id, name])).toEqual(MENUS.map(({ id, name }) => [id, name]));
    expect(pathsOf(menus)).toEqual(ENTRIES.map(({ path }) => path));
    for (const path of pathsOf(menus)) expect(await statusOf(session, path), path).toBe(200);
    expect(menus[0]).toEqual({
      id: 'content',
      name: 'Content',
      items: expect.arrayContaining([
        { id: 'datasets', label: 'Datasets', path: '/api/datasets', icon: 'table' },
        { id: 'queries', label: 'Queries', path: '/api/queries', icon: 'file-code' },
      ]),
    });
    for (const { icon } of ENTRIES) expect(icon).toMatch(/^[a-z]+(-[a-z]+)*$/);
  });

  test('of a token lack what requires a session', async ({ service, admin }) => {
    const ofSession = pathsOf(await menusOf(await service.login(admin.username)));
    const ofToken = pathsOf(await menusOf(admin));
    expect(ofSession.filter((path) => !ofToken.includes(path))).toEqual(['/api/identity-providers']);
  });

  test('of other users have the entries that they may open, and no others', async ({ ann }) => {
    const paths = pathsOf(await menusOf(ann));
    expect(paths).toContain('/api/datasets');
    for (const path of paths) expect(await statusOf(ann, path), path).toBe(200);
    const missing = ENTRIES.map(({ path }) => path).filter((path) => !paths.includes(path));
    expect(missing).toEqual([
      '/api/identity-providers',
      '/api/outbox',
      '/api/audit',
      '/api/ai/audit',
      '/api/usage',
      '/api/usage-profiles',
      '/api/usage/events',
    ]);
    for (const path of missing) expect(await statusOf(ann, path), path).toBe(403);
    expect((await menusOf(ann)).map(({ id }) => id)).toEqual(['content', 'organization', 'people']);
  });

  test('are the same in GraphQL, and for users with credentials only', async ({ ann, anonymous }) => {
    const document = '{ topMenuTemplates { templates { id name items { id label path icon } } } }';
    expect((await ann.data(document)).topMenuTemplates).toEqual((await ann.get('/top-menu-templates')).body);
    await expectStatus(anonymous.get('/top-menu-templates'), 401);
    await expectGraphqlError(anonymous.gql(document), 'UNAUTHENTICATED');
  });
});
