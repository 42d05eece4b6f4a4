import { toCamelCase } from '../../rest-bridge/words.ts';
import { capitalize } from '../../src/core/capitalize.ts';
import { ROWS } from '../../src/server/routes.ts';
import type { Client } from '../support/client.ts';

/** How the test suites create a resource of a kind. */
interface Fixture {
  /**
   * Creates a resource that `ownerId` owns, by default the admin. Returns its id, of a user the username: the value of
   * the first path parameter.
   */
  create(admin: Client, name: string, ownerId?: string): Promise<string>;
}

const paths = (method: string): Set<string> =>
  new Set(ROWS.filter((row) => row.method === method).map(({ path }) => path));
const [gets, posts, deletes] = [paths('GET'), paths('POST'), paths('DELETE')];

/** Settings of a tenant, which only superusers read. They have tests of their own. */
const SETTINGS: ReadonlySet<string> = new Set(['identity-providers', 'usage-profiles']);

/** Path segments of the kinds that REST creates, reads and deletes by id, e.g. `datasets`. */
const KINDS = [...posts]
  .map((path) => path.slice(1))
  .filter((kind) => !SETTINGS.has(kind))
  .filter((kind) => !kind.includes('/') && gets.has(`/${kind}/:id`) && deletes.has(`/${kind}/:id`));

/** Returns the singular of a path segment, e.g. `query` for `queries`: the prefix of the kind's permissions. */
export const singularOf = (kind: string): string => kind.replace(/ies$/, 'y').replace(/s$/, '');

/** Kinds that are parts of a resource: access to them is that to the resource. */
export const PARTS: ReadonlySet<string> = new Set(['agents']);

/** Kinds without owners. All users of the tenant may read them. */
export const READABLE_BY_ALL: ReadonlySet<string> = new Set([
  'users',
  ...KINDS.filter((kind) => !PARTS.has(kind) && !gets.has(`/${kind}/:id/owner`)),
]);

/** Creates a resource of a kind that requires nothing but a name. */
const byName = (kind: string): Fixture => ({
  create: async (admin, name, ownerId) => (await admin.creates(`/${kind}`, { name, ownerId })).id,
});

const createDatasource = async (admin: Client, name: string, ownerId?: string): Promise<string> => {
  const { id } = await admin.creates('/datasources', {
    name,
    ownerId,
    type: 'postgres',
    config: { host: '127.0.0.1', port: 1, database: 'd', user: 'u' },
    secrets: { password: 'p' },
  });
  return id;
};

/** Creates a resource that reads a new datasource by a query. */
const withQuery = (kind: string): Fixture => ({
  async create(admin, name, ownerId) {
    const datasourceId = await createDatasource(admin, `${name} source`, ownerId);
    return (await admin.creates(`/${kind}`, { name, ownerId, datasourceId, query: 'select 1 as one' })).id;
  },
});

/** Kinds that require more than a name. */
const SPECIAL: Record<string, Fixture> = {
  users: {
    async create(admin, name) {
      const username = name.replaceAll(' ', '-');
      return (await admin.creates('/users', { username, password: 'correct horse battery', enabled: true })).username;
    },
  },
  datasources: { create: createDatasource },
  queries: withQuery('queries'),
  datasets: withQuery('datasets'),
  integrations: {
    create: async (admin, name) =>
      (await admin.creates('/integrations', { name, type: 'dropbox', clientId: 'workspace', clientSecret: 's' })).id,
  },
  'ai-providers': {
    create: async (admin, name) =>
      (await admin.creates('/ai-providers', { name, baseUrl: 'https://ai.example/v1' })).id,
  },
  toolkits: {
    create: async (admin, name, ownerId) =>
      (await admin.creates('/toolkits', { name, ownerId, type: 'mcp-stdio', config: { command: 'npx' } })).id,
  },
  agents: {
    async create(admin, name, ownerId) {
      const assistant = await admin.creates('/assistants', { name: `${name} assistant`, ownerId });
      return (await admin.creates('/agents', { name, assistantId: assistant.id })).id;
    },
  },
  jobs: {
    create: async (admin, name, ownerId) => (await admin.creates('/jobs', { name, ownerId, type: 'actions' })).id,
  },
};

/**
 * Fixtures of all kinds by path segment. The suites test every kind that is here on all of its routes. A new kind is
 * here by its routes.
 */
export const FIXTURES: Record<string, Fixture> = {
  ...Object.fromEntries(KINDS.map((kind) => [kind, byName(kind)])),
  ...SPECIAL,
};

/** Path segments of the kinds with owners. */
export const OWNED_PATHS: readonly string[] = Object.keys(FIXTURES).filter(
  (kind) => !READABLE_BY_ALL.has(kind) && !PARTS.has(kind),
);

/** Path segments of the kinds whose shares have the levels 1 to 3. Shares of libraries have 0 and 1. */
export const SHARED_PATHS: readonly string[] = OWNED_PATHS.filter((kind) => kind !== 'libraries');

/** Lets a user write a resource of the admin: by a share or, where no share does so, as a member of its new owner. */
export async function letWrite(admin: Client, kind: string, id: string, username: string): Promise<void> {
  if (SHARED_PATHS.includes(kind)) {
    await admin.put(`/${kind}/${id}/shares/${username}`, { accessLevel: 2 });
    return;
  }
  const team = await admin.creates('/teams', { name: `Writers of ${id}` });
  await admin.put(`/teams/${team.id}/members/${username}`, { role: 'memberPlus' });
  await admin.put(`/${kind}/${id}/owner`, { ownerId: `team:${team.id}` });
}

/** The names of a kind, in addition to its path segment. */
interface KindNames {
  /** Prefix of permissions and of keys in records, e.g. `query`. */
  word: string;
  /** GraphQL type, e.g. `SavedQuery`. */
  type: string;
  /** Root field for one resource, e.g. `savedQuery`. */
  one: string;
  /** Root field for a list, e.g. `savedQueries`. */
  many: string;
}

/** Returns the names of a kind. */
export function namesOf(kind: string): KindNames {
  const word = singularOf(kind);
  if (kind === 'queries') return { word, type: 'SavedQuery', one: 'savedQuery', many: 'savedQueries' };
  const one = toCamelCase(word);
  return { word, type: capitalize(one), one, many: toCamelCase(kind) };
}
