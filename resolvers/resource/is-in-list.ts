import type { GraphQLResolveInfo } from 'graphql';

/** Whether a field answers for an item of a list, and not for a single record. */
export function isInList(path: GraphQLResolveInfo['path'] | undefined): boolean {
  for (let step = path; step; step = step.prev) if (typeof step.key === 'number') return true;
  return false;
}
