/** A loader that a test kills: `node killed-load.ts URL PREFIX SCRATCH ID`. */
import { openElasticsearchIndex } from '../../src/adapters/dataset-index/elasticsearch/elasticsearch-index.ts';
import { csvSegments } from '../../src/adapters/drivers/csv-encoder.ts';

const [url, prefix, scratch, id] = process.argv.slice(2) as [string, string, string, string];
const columns = [{ name: 'x', type: 'string' as const, storage: { kind: 'text' as const }, sourceType: 'text' }];
await openElasticsearchIndex({ url, prefix, scratch }).load(
  id,
  columns,
  csvSegments(
    (async function* () {
      yield [['a'], ['b']];
    })(),
    scratch,
  ),
  { flow: [], maxRows: 0, progress: () => {}, signal: new AbortController().signal },
);
