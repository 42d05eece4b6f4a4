import type { GraphQLResolveInfo } from 'graphql';

/** Returns whether a field is resolved for an item of a list instead of a single record. */
export function isInList(path: GraphQLResolveInfo['path'] | undefined): boolean {
  for (let step = path; step; step = step.prev) if (typeof step.key === 'number') return true;
  return false;
}
