import type { Aggregation, DatasetIndex, RowSearch, Search } from '../../src/core/dataset-index.ts';
import type { Platform } from '../../src/core/platform.ts';

/** A query that the dataset index received. */
interface IndexQuery {
  verb: 'search' | 'aggregate' | 'profile' | 'scan';
  query: Search & Partial<RowSearch> & Partial<Aggregation>;
  /** Fields of a profile. */
  fields: readonly string[];
}

const VERBS: ReadonlySet<string | symbol> = new Set(['search', 'aggregate', 'profile', 'scan']);

/** Records the queries that the index of a service receives during `work`. */
export async function recordIndexQueries(platform: Platform, work: () => Promise<unknown>): Promise<IndexQuery[]> {
  const queries: IndexQuery[] = [];
  const real = platform.index;
  platform.index = new Proxy(real, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      if (!VERBS.has(name)) return value.bind(target) as unknown;
      return (query: IndexQuery['query'], ...rest: unknown[]) => {
        queries.push({
          verb: name as IndexQuery['verb'],
          query,
          fields: name === 'profile' ? (rest[0] as string[]) : [],
        });
        return (value as (...all: unknown[]) => unknown).call(target, query, ...rest);
      };
    },
  }) satisfies DatasetIndex;
  try {
    await work();
    return queries;
  } finally {
    platform.index = real;
  }
}

/**
 * Returns a query without its generation and the criteria of the visible rows. It is equal for twins and contains no
 * hidden field.
 */
export const withoutRows = ({ verb, query, fields }: IndexQuery): object => {
  const { generation: _generation, caller: _caller, visible: _visible, after, ...open } = query;
  return { verb, fields, ...open, after: after === undefined ? 'none' : 'a cursor' };
};
