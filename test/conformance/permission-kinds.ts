import type { GraphQLField } from 'graphql';
import { permissionOf } from '../../resolvers/support/guard.ts';
import { LEVEL, levelAllows, type ResourcePermission } from '../../src/core/permissions.ts';

/** The first path segment of a kind, by the name of the kind in permissions. */
const PATH_OF_KIND: Record<string, string> = {
  dataset: 'datasets',
  datasource: 'datasources',
  query: 'queries',
  report: 'reports',
  app: 'apps',
  job: 'jobs',
  template: 'templates',
  library: 'libraries',
  integration: 'integrations',
  toolkit: 'toolkits',
  assistant: 'assistants',
  agent: 'agents',
  folder: 'folders',
  suite: 'suites',
  team: 'teams',
  tag: 'tags',
  user: 'users',
  savedQuery: 'queries',
};

/** Returns whether a permission is about the resource of a path, and a member with level View lacks it. */
export const isDeniedToReaders = (permission: string, kind: string): boolean =>
  permission.includes(':') &&
  PATH_OF_KIND[permission.split(':')[0]!] === kind &&
  !levelAllows(LEVEL.view, permission as ResourcePermission);

/** Returns the kind that a root field is about, by its permission or, for reads, by its name. */
export function kindOfField(field: GraphQLField<unknown, unknown>): string | undefined {
  const permission = permissionOf(field)!;
  return PATH_OF_KIND[permission === 'authenticated' ? field.name : permission.split(':')[0]!];
}
