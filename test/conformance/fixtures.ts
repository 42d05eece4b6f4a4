import type { Client } from '../support/client.ts';

/** A kind that routes are about: where it is made, and of what. A new kind of resource adds itself here and is then tested on every route it has. */
export interface Fixture {
  /** Makes one that `admin` owns, or that the team owns when `ownerId` is given; answers the value of the path's parameter. */
  create(admin: Client, name: string, ownerId?: string): Promise<string>;
}

/** By the first segment of the path. */
export const FIXTURES: Record<string, Fixture> = {
  users: {
    create: async (admin, name) =>
      (
        await admin.creates('/users', {
          username: name.replaceAll(' ', '-'),
          password: 'correct horse battery',
          enabled: true,
        })
      ).username,
  },
  tags: { create: async (admin, name) => (await admin.creates('/tags', { name })).id },
  teams: { create: async (admin, name) => (await admin.creates('/teams', { name })).id },
  datasources: {
    create: async (admin, name, ownerId) =>
      (
        await admin.creates('/datasources', {
          name,
          ownerId,
          type: 'postgres',
          config: { host: '127.0.0.1', port: 1, database: 'd', user: 'u' },
          secrets: { password: 'p' },
        })
      ).id,
  },
  queries: {
    create: async (admin, name, ownerId) => {
      const datasourceId = await FIXTURES['datasources']!.create(admin, `${name} source`, ownerId);
      return (await admin.creates('/queries', { name, ownerId, datasourceId, query: 'select 1 as one' })).id;
    },
  },
  datasets: {
    create: async (admin, name, ownerId) => {
      const datasourceId = await FIXTURES['datasources']!.create(admin, `${name} source`, ownerId);
      return (await admin.creates('/datasets', { name, ownerId, datasourceId, query: 'select 1 as one' })).id;
    },
  },
  reports: { create: async (admin, name, ownerId) => (await admin.creates('/reports', { name, ownerId })).id },
  apps: { create: async (admin, name, ownerId) => (await admin.creates('/apps', { name, ownerId })).id },
  folders: { create: async (admin, name) => (await admin.creates('/folders', { name })).id },
  suites: { create: async (admin, name) => (await admin.creates('/suites', { name })).id },
};

/** Kinds that everybody in the tenant may read: to the reader they exist. */
export const READABLE_BY_ALL = new Set(['users', 'teams', 'folders', 'suites', 'tags']);
