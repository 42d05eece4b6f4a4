import { InMemoryCache, type FieldPolicy } from '@apollo/client';

/** Fields of all pages of the service. */
interface Page {
  start: number;
  count: number;
  items: readonly unknown[];
}

/**
 * Joins the pages of a list in the cache. Pages differ in `start` and `limit`; every other argument selects another
 * list. The first page replaces the list, because a list that is read again may have changed.
 */
const joinPages = (): FieldPolicy<Page> => ({
  keyArgs: (args) => Object.keys(args ?? {}).filter((name) => name !== 'start' && name !== 'limit'),
  merge(existing, incoming) {
    const before = existing?.items.slice(0, incoming.start) ?? [];
    const items = [...before, ...incoming.items];
    // `total` and `hasNextPage` come from the latest page.
    return { ...incoming, start: 0, count: items.length, items };
  },
});

/**
 * Creates the cache. Objects are stored by type and `id`, as Apollo Client does by default: ids of the service are
 * unique within a type. Add every list that the app reads page by page.
 */
export const createCache = (): InMemoryCache =>
  new InMemoryCache({
    typePolicies: {
      Query: {
        fields: {
          apps: joinPages(),
          datasets: joinPages(),
          datasources: joinPages(),
          reports: joinPages(),
          savedQueries: joinPages(),
        },
      },
    },
  });
