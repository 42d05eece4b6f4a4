/**
 * Measures a load into Elasticsearch against bare bulk clients that send the same documents, rendered beforehand, to
 * the same mapping:
 * `node bench/elasticsearch.ts URL [rows=1000000] [rounds=2]` (engine: `node tools/elasticsearch.ts run`). Alternates
 * in this process and prints the best of each as Markdown.
 */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { rowsFile } from '../src/adapters/dataset-index/duckdb/generation-files.ts';
import { loadGeneration } from '../src/adapters/dataset-index/duckdb/load.ts';
import { openSearchEngine } from '../src/adapters/dataset-index/elasticsearch/client.ts';
import { stagedBatches } from '../src/adapters/dataset-index/elasticsearch/document-batches.ts';
import { mappingsOf } from '../src/adapters/dataset-index/elasticsearch/field-layout.ts';
import { cloneIndex, dropIndexes } from '../src/adapters/dataset-index/elasticsearch/lifecycle.ts';
import { loadRows } from '../src/adapters/dataset-index/elasticsearch/load.ts';
import type { Generation } from '../src/core/dataset-index.ts';
import type { Segment } from '../src/core/row-source.ts';
import { printTable } from './markdown.ts';
import { ORDER_COLUMNS, orderSegments } from './orders.ts';
import { report } from './report.ts';

const [url, ...more] = process.argv.slice(2);
if (!url) throw new Error('The address of an Elasticsearch or OpenSearch is needed');
const { rows = '1000000', rounds = '2' } = Object.fromEntries(more.map((argument) => argument.split('='))) as Record<
  string,
  string
>;
const ROWS = Number(rows);

/** Segments that are written once and read by every load. */
async function writeSegments(dir: string): Promise<Segment[]> {
  const segments: Segment[] = [];
  for await (const segment of orderSegments(dir, ROWS)) segments.push({ ...segment, temporary: false });
  return segments;
}

const signal = new AbortController().signal;
const dir = await mkdtemp(join(tmpdir(), 'dws-bench-'));
const [scratch, bodies] = [join(dir, 'scratch'), join(dir, 'bodies')];
const engine = openSearchEngine({ url, prefix: `dws-bench-${process.pid}-` });
const { client } = engine;
try {
  for (const folder of [scratch, bodies]) await mkdir(folder);
  const segments = await writeSegments(dir);
  async function* source() {
    yield* segments;
  }
  const plan = { flow: [], maxRows: 0, progress: () => {}, signal };

  /** The documents, one file a request. */
  const staged: Generation = await loadGeneration(scratch, randomUUID(), ORDER_COLUMNS, source(), plan);
  const everyRow = [{ from: 0, to: staged.records }];
  let bytes = 0;
  for await (const { body } of stagedBatches(rowsFile(scratch, staged.id), staged.fields, everyRow, signal)) {
    await writeFile(join(bodies, String(bytes).padStart(15, '0')), body);
    bytes += body.length;
  }
  const files = (await readdir(bodies)).sort().map((name) => join(bodies, name));

  type Sender = (index: string) => Promise<void>;
  /** Sends the files unchanged, two requests at a time. */
  const raw: Sender = async (index) => {
    const left = [...files];
    const sender = async () => {
      for (let file = left.shift(); file; file = left.shift()) {
        const answer = await client.transport.request<{ errors: boolean }>({
          method: 'POST',
          path: `/${index}/_bulk`,
          bulkBody: await readFile(file),
        });
        if (answer.errors) throw new Error('The engine refused documents');
      }
    };
    await Promise.all([sender(), sender()]);
  };
  /** Uses the client's own bulk helper as its manual shows, with documents from a file of lines. */
  const helper: Sender = async (index) => {
    let number = 0;
    async function* lines() {
      for (const file of files)
        for await (const line of createInterface(createReadStream(file))) if (!line.startsWith('{"index"')) yield line;
    }
    const { failed } = await client.helpers.bulk({
      datasource: lines(),
      concurrency: 2,
      onDocument: () => ({ index: { _index: index, _id: String(number++) } }),
    });
    if (failed > 0) throw new Error('The engine refused documents');
  };
  const bare = async (send: Sender, settings: object): Promise<number> => {
    const index = `dws-bare-${process.pid}`;
    await client.indices.create({
      index,
      settings: { number_of_shards: 1, number_of_replicas: 0, ...settings },
      mappings: mappingsOf(staged.fields),
    });
    const began = performance.now();
    await send(index);
    await client.indices.refresh({ index });
    const seconds = (performance.now() - began) / 1000;
    if ((await client.count({ index })).count !== ROWS) throw new Error('Documents are missing');
    await client.indices.delete({ index });
    return seconds;
  };
  let clone = 0;
  const ours = async (): Promise<number> => {
    const began = performance.now();
    const generation = await loadRows(engine, scratch, randomUUID(), ORDER_COLUMNS, source(), plan);
    const seconds = (performance.now() - began) / 1000;
    const copied = performance.now();
    const copy = randomUUID();
    await cloneIndex(engine, generation, copy, signal);
    clone = performance.now() - copied;
    for (const id of [copy, generation.id]) await dropIndexes(engine, id, signal);
    return seconds;
  };

  const quiet = { refresh_interval: '-1' };
  const contenders: Record<string, () => Promise<number>> = {
    'load, staging included': ours,
    'bulk helper of the client, refresh off': () => bare(helper, quiet),
    'requests from files, refresh off': () => bare(raw, quiet),
    'requests from files, default settings': () => bare(raw, {}),
  };
  // The first round only warms the engine. Memory is measured for the loads alone, before the bodies of the bare
  // clients are read.
  await ours();
  const peak = process.resourceUsage().maxRSS / 1024;
  const best = new Map<string, number>();
  for (let round = 0; round < Number(rounds); round++) {
    for (const [name, contender] of Object.entries(contenders))
      best.set(name, Math.min(best.get(name) ?? Infinity, await contender()));
  }
  console.log(`## Load of ${ROWS} rows x 12 columns, ${(bytes / 1e6).toFixed(0)} MB of documents\n`);
  const load = best.get('load, staging included')!;
  printTable(
    ['', 'seconds', 'rows/s', 'of the load'],
    [...best].map(([name, seconds]) => [
      name,
      seconds.toFixed(1),
      (ROWS / seconds).toFixed(0),
      (seconds / load).toFixed(2),
    ]),
  );
  console.log(`\nPeak RSS of the loading process ${peak.toFixed(0)} MiB; a copy ${clone.toFixed(0)} ms`);
  const bulk = best.get('bulk helper of the client, refresh off')!;
  report([
    { what: `refresh of ${ROWS} rows into Elasticsearch, rows/s`, goal: 'bulk', value: bulk / load },
    { what: 'memory of its loader', goal: 'loaderMemory', value: peak },
    { what: 'clone in Elasticsearch', goal: 'clone', value: clone },
  ]);
} finally {
  await engine.close();
  await rm(dir, { recursive: true, force: true });
}
