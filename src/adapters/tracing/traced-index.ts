import type { DatasetIndex, Generation, GenerationId, RowSearch, Search } from '../../core/dataset-index.ts';
import { traced, tracedIterable, type SpanStart } from '../../core/tracing.ts';

/** Returns the index with a span for each query and copy. Spans contain the generation, and no criteria. */
export function traceIndex(index: DatasetIndex): DatasetIndex {
  const span = (call: string, id: GenerationId): SpanStart => ({
    name: `index ${call}`,
    kind: 'client',
    attributes: { 'db.operation.name': call, 'dws.generation.id': id },
  });
  const search = (call: string, { generation }: Pick<Search, 'generation'>) => span(call, generation.id);
  return {
    load: (id, columns, segments, plan) => index.load(id, columns, segments, plan),
    clone: (generation: Generation, id) => traced(span('clone', id), () => index.clone(generation, id)),
    drop: (id) => index.drop(id),
    search: (query: RowSearch, signal) => traced(search('search', query), () => index.search(query, signal)),
    aggregate: (query, signal) => traced(search('aggregate', query), () => index.aggregate(query, signal)),
    profile: (query, fields, signal) => traced(search('profile', query), () => index.profile(query, fields, signal)),
    scan: (query, signal) => tracedIterable(search('scan', query), index.scan(query, signal)),
    prepareWords: (generation, signal) => index.prepareWords(generation, signal),
    generations: () => index.generations(),
    ping: () => index.ping(),
    close: () => index.close(),
  };
}
