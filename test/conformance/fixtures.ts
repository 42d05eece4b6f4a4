import type { Client } from '../support/client.ts';

/** Creates resources of one kind. A new kind is added here, and is then tested on all of its routes. */
interface Fixture {
  /** Creates a resource that `admin` owns, or `ownerId`. Returns its path parameter. */
  make(admin: Client, name: string, ownerId?: string): Promise<string>;
}

/** Fixtures by the first segment of the path. */
export const FIXTURES: Record<string, Fixture> = {
  users: {
    make: async (admin, name) =>
      (
        await admin.creates('/users', {
          username: name.replaceAll(' ', '-'),
          password: 'correct horse battery',
          enabled: true,
        })
      ).username,
  },
  tags: { make: async (admin, name) => (await admin.creates('/tags', { name })).id },
  teams: { make: async (admin, name) => (await admin.creates('/teams', { name })).id },
  datasources: {
    make: async (admin, name, ownerId) =>
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
    make: async (admin, name, ownerId) => {
      const datasourceId = await FIXTURES['datasources']!.make(admin, `${name} source`, ownerId);
      return (await admin.creates('/queries', { name, ownerId, datasourceId, query: 'select 1 as one' })).id;
    },
  },
  datasets: {
    make: async (admin, name, ownerId) => {
      const datasourceId = await FIXTURES['datasources']!.make(admin, `${name} source`, ownerId);
      return (await admin.creates('/datasets', { name, ownerId, datasourceId, query: 'select 1 as one' })).id;
    },
  },
  reports: { make: async (admin, name, ownerId) => (await admin.creates('/reports', { name, ownerId })).id },
  apps: { make: async (admin, name, ownerId) => (await admin.creates('/apps', { name, ownerId })).id },
  folders: { make: async (admin, name) => (await admin.creates('/folders', { name })).id },
  suites: { make: async (admin, name) => (await admin.creates('/suites', { name })).id },
};

/** Kinds that all users of the tenant may read. */
export const READABLE_BY_ALL = new Set(['users', 'teams', 'folders', 'suites', 'tags']);
