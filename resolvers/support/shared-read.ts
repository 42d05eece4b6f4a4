import type { GraphQLResolveInfo } from 'graphql';

/** An event of a subscription, which the subscriptions of one user read. */
interface SharedEvent {
  /** Reads by their selection. */
  reads: Map<string, Promise<unknown>>;
}

/** Reads the selected fields of an event, once for all subscriptions of a user with the same document. */
export function readOnce<T>(
  { reads }: SharedEvent,
  { operation, variableValues }: GraphQLResolveInfo,
  read: () => Promise<T>,
) {
  const selection = JSON.stringify([operation.loc!.source.body, operation.name?.value, variableValues]);
  const found = (reads.get(selection) as Promise<T> | undefined) ?? read();
  reads.set(selection, found);
  return found;
}
