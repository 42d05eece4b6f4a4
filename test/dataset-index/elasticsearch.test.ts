import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openElasticsearchIndex } from '../../src/adapters/dataset-index/elasticsearch/elasticsearch-index.ts';
import type { ElasticsearchIndex } from '../../src/adapters/dataset-index/elasticsearch/elasticsearch-index.ts';
import { csvSegments } from '../../src/adapters/drivers/csv-encoder.ts';
import { newId } from '../../src/core/id.ts';
import { elasticsearch, HAS_ELASTICSEARCH, HAS_OPENSEARCH, opensearch } from '../support/engines.ts';
import { datasetIndexContract } from './dataset-index-contract.ts';
import {
  collect,
  createColumn,
  createLoadPlan,
  loadTexts,
  NEVER,
  search,
  selectAllRows,
} from './generation-fixture.ts';
import { UnsteadyProxy } from './unsteady-proxy.ts';
import type { ProxyFault } from './unsteady-proxy.ts';

// Every load changes the cluster state several times, which is slow while other tests run.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const [NAME, startEngine, isInstalled] = HAS_OPENSEARCH
  ? (['OpenSearch', opensearch, true] as const)
  : (['Elasticsearch', elasticsearch, HAS_ELASTICSEARCH] as const);
const createPrefix = () => `dws-${randomBytes(6).toString('hex')}-`;

describe.skipIf(!isInstalled)('dataset rows in a search engine', () => {
  let scratch: string;
  let url: string;
  const opened: ElasticsearchIndex[] = [];
  const open = (settings: { url?: string; prefix?: string } = {}) => {
    const index = openElasticsearchIndex({ url, prefix: createPrefix(), scratch, ...settings });
    opened.push(index);
    return index;
  };
  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'dws-scratch-'));
    ({ url } = await startEngine());
  });
  afterAll(async () => {
    for (const index of opened) {
      for (const { id } of await index.generations().catch(() => [])) await index.drop(id);
      await index.close();
    }
    await rm(scratch, { recursive: true, force: true });
  });

  datasetIndexContract(NAME, async () => open());

  describe(`${NAME}: loading`, () => {
    let proxy: UnsteadyProxy;
    let index: ElasticsearchIndex;
    let prefix: string;
    beforeEach(async () => {
      proxy = new UnsteadyProxy(url);
      await proxy.open();
      prefix = createPrefix();
      index = open({ url: proxy.url, prefix });
    });
    afterEach(async () => {
      proxy.faults = [];
      for (const { id } of await index.generations()) await index.drop(id);
      await proxy.close();
    });
    const TEXTS = [createColumn('n', 'integer'), createColumn('x', 'string')];
    /** About five requests. */
    const many = Array.from({ length: 10_000 }, (_, n) => [String(n), `row ${n} ${'x'.repeat(1000)}`]);

    test('no row is lost or doubled when requests are refused, cut, unanswered or half executed', async () => {
      proxy.faults = [
        '429',
        'cut',
        'unanswered',
        'half',
        '503',
        'half',
        'cut',
        'none',
        'unanswered',
        'half',
      ] satisfies ProxyFault[];
      const seen: number[] = [];
      const shares: number[] = [];
      const generation = await loadTexts(index, TEXTS, many, {
        progress: (rows) => seen.push(rows),
        stored: (share) => shares.push(share),
      });
      expect(shares[0]).toBeGreaterThan(0);
      expect(shares).toEqual(shares.toSorted((a, b) => a - b));
      expect(shares.at(-1)).toBeLessThanOrEqual(1);
      expect(proxy.faults).toEqual([]);
      expect(generation.records).toBe(10_000);
      const rows = (await collect(index.scan({ ...selectAllRows(generation), fields: ['n'], sort: [] }, NEVER))).flat();
      expect(rows.map(({ n }) => n)).toEqual(many.map((_, n) => n));
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
      expect(seen.at(-1)).toBe(10_000);
      expect(await readdir(scratch)).toEqual([]);
    });

    test('rows that the engine lost after it acknowledged them are detected', async () => {
      proxy.faults = ['forgotten'];
      await expect(loadTexts(index, TEXTS, many.slice(0, 3))).rejects.toMatchObject({
        status: 503,
        message: 'The dataset index has stored 0 of 3 rows',
      });
      expect(await index.generations()).toEqual([]);
    });

    test('a load that is aborted during a request ends immediately and leaves nothing', async () => {
      const stop = new AbortController();
      proxy.faults = ['hang', 'hang'];
      proxy.onBulk = () => stop.abort(new Error('cancelled by Ann'));
      await expect(loadTexts(index, TEXTS, many, { signal: stop.signal })).rejects.toThrow('cancelled by Ann');
      expect(await index.generations()).toEqual([]);
      expect(await readdir(scratch)).toEqual([]);
    });

    test('a request that arrives after its generation was dropped creates no index', async () => {
      const id = newId();
      proxy.faults = ['429'];
      proxy.onBulk = () => {
        proxy.onBulk = () => {};
        void index.drop(id);
      };
      const loading = index.load(
        id,
        TEXTS,
        csvSegments(
          (async function* () {
            yield many.slice(0, 3);
          })(),
          scratch,
        ),
        createLoadPlan(),
      );
      await expect(loading).rejects.toMatchObject({ status: 410 });
      expect(await index.generations()).toEqual([]);
    });

    test('the generation of a killed loader is listed as incomplete, is not readable, and can be dropped', async () => {
      const own = createPrefix();
      const dir = join(scratch, 'killed');
      await mkdir(dir);
      const [id, survivor] = [newId(), openElasticsearchIndex({ url, prefix: own, scratch: dir })];
      proxy.faults = ['hang'];
      const arrived = new Promise<void>((resolve) => {
        proxy.onBulk = resolve;
      });
      const loader = spawn(process.execPath, [join(import.meta.dirname, 'killed-load.ts'), proxy.url, own, dir, id], {
        stdio: 'inherit',
      });
      await arrived;
      loader.kill('SIGKILL');
      await once(loader, 'exit');
      expect(await survivor.generations()).toEqual([{ id, complete: false }]);
      expect(await readdir(dir)).toEqual([id]);
      await expect(search(survivor, { id, fields: [], records: 2, size: 1, warnings: [] })).rejects.toMatchObject({
        status: 410,
      });
      await survivor.drop(id);
      expect(await survivor.generations()).toEqual([]);
      expect(await readdir(dir)).toEqual([]);
      await rm(dir, { recursive: true });
      await survivor.close();
    });

    test('while the engine is unavailable every call fails with 503, and works again afterwards', async () => {
      const generation = await loadTexts(index, TEXTS, many.slice(0, 3));
      await proxy.close();
      const unavailable = { status: 503, code: 'UNAVAILABLE', headers: { 'retry-after': '5' } };
      await expect(index.ping()).rejects.toMatchObject(unavailable);
      await expect(search(index, generation)).rejects.toMatchObject(unavailable);
      await expect(index.generations()).rejects.toMatchObject(unavailable);
      await expect(index.drop(generation.id)).rejects.toMatchObject(unavailable);
      await proxy.open();
      await index.ping();
      expect((await search(index, generation, { fields: ['n'] })).rows).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
    });

    test('a load waits for an engine that restarts', async () => {
      proxy.faults = ['cut'];
      proxy.onBulk = () => {
        proxy.onBulk = () => {};
        void proxy.close().then(() => setTimeout(() => void proxy.open(), 500));
      };
      expect(await loadTexts(index, TEXTS, many)).toMatchObject({ records: 10_000 });
    });

    test('of a repeated json member the last one remains', async () => {
      const generation = await loadTexts(
        index,
        [createColumn('j', 'json')],
        [['{"a":1,"b":{},"a":[]}'], ['{"b":{"c":1,"c":{"__proto__":2}}}']],
      );
      expect((await search(index, generation)).rows.map(({ j }) => JSON.stringify(j))).toEqual([
        '{"a":[],"b":{}}',
        '{"b":{"c":{"__proto__":2}}}',
      ]);
    });

    test('words of any length are found by their first characters', async () => {
      const generation = await loadTexts(index, TEXTS, [
        ['1', 'x'.repeat(9000)],
        ['2', 'ﷺ'.repeat(8000)],
        ['3', `${'ab '.repeat(5000)}end`],
      ]);
      const findNumbers = async (word: string) =>
        (await search(index, generation, { words: [word], fields: ['n'] })).rows.map(({ n }) => n);
      expect(await findNumbers('xxx')).toEqual([1]);
      expect(await findNumbers('صلى')).toEqual([2]);
      expect(await findNumbers('end')).toEqual([3]);
    });

    test('a table of very many columns is loaded', async () => {
      const wide = Array.from({ length: 1000 }, (_, i) => createColumn(`f${i}`, i % 2 === 0 ? 'integer' : 'string'));
      const generation = await loadTexts(
        index,
        wide,
        Array.from({ length: 50 }, (_, row) => wide.map((_column, i) => String(row + i))),
      );
      expect((await search(index, generation, { start: 49, limit: 1, fields: ['f0', 'f999'] })).rows).toEqual([
        { f0: 49, f999: '1048' },
      ]);
    });

    test('the engine refreshes during a load only if the plan enables it', async () => {
      const createdIntervals = () =>
        proxy.requests
          .filter(({ method, body }) => method === 'PUT' && body.includes('"mappings"'))
          .map(({ body }) => (JSON.parse(body) as { settings: Record<string, unknown> }).settings['refresh_interval']);
      await loadTexts(index, TEXTS, many.slice(0, 3));
      await loadTexts(index, TEXTS, many.slice(0, 3), { disableRefreshInterval: false });
      expect(createdIntervals()).toEqual(['-1', undefined]);
    });

    test('a copy is another name of the index, which is deleted with the last one', async () => {
      const indexes = async () => (await fetch(`${url}/_cat/indices/${prefix}*?h=index`)).text();
      const generation = await loadTexts(index, TEXTS, many.slice(0, 3));
      const first = await index.clone(generation, newId());
      const second = await index.clone(first, newId());
      const all = [generation, first, second];
      const created = await indexes();
      expect(created.trim().split('\n')).toHaveLength(1);
      expect((await index.generations()).toSorted((a, b) => a.id.localeCompare(b.id))).toEqual(
        all.map(({ id }) => ({ id, complete: true })).toSorted((a, b) => a.id.localeCompare(b.id)),
      );
      await index.drop(generation.id);
      await index.drop(generation.id);
      await expect(search(index, generation)).rejects.toMatchObject({ status: 410 });
      await expect(index.clone(generation, newId())).rejects.toMatchObject({ status: 410 });
      await index.drop(first.id);
      expect((await search(index, second, { fields: ['n'] })).rows).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
      expect(await index.generations()).toEqual([{ id: second.id, complete: true }]);
      expect(await indexes()).toBe(created);
      await index.drop(second.id);
      expect(await index.generations()).toEqual([]);
      expect(await indexes()).toBe('');
    });

    test('a copy of a generation that is dropped at the same time has its rows or fails', async () => {
      for (let round = 0; round < 5; round++) {
        const generation = await loadTexts(index, TEXTS, many.slice(0, 3));
        const [copied] = await Promise.allSettled([index.clone(generation, newId()), index.drop(generation.id)]);
        if (copied.status === 'rejected') expect(copied.reason).toMatchObject({ status: 410 });
        else {
          expect((await search(index, copied.value, { fields: ['n'] })).rows).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
          await index.drop(copied.value.id);
        }
        expect(await index.generations()).toEqual([]);
      }
    });

    test('credentials of the address are sent to the engine and appear in no error', async () => {
      const address = new URL(proxy.url);
      address.username = 'ann';
      address.password = 's3cr3t@/';
      const trusted = open({ url: address.href });
      await trusted.ping();
      expect(proxy.requests.at(-1)!.authorization).toBe(`Basic ${Buffer.from('ann:s3cr3t@/').toString('base64')}`);
      await proxy.close();
      const error: unknown = await trusted.ping().catch((thrown: unknown) => thrown);
      await proxy.open();
      expect(error).toMatchObject({ status: 503 });
      for (const secret of ['s3cr3t', Buffer.from('ann:s3cr3t@/').toString('base64')])
        expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(secret);
    });
  });

  test("installations in one engine cannot see or drop each other's generations", async () => {
    const own = createPrefix();
    const [one, other] = [open({ prefix: own }), open({ prefix: `${own}b-` })];
    const [first, second] = [
      await loadTexts(one, [createColumn('x', 'string')], [['a']]),
      await loadTexts(other, [createColumn('x', 'string')], [['b']]),
    ];
    expect(await one.generations()).toEqual([{ id: first.id, complete: true }]);
    expect(await other.generations()).toEqual([{ id: second.id, complete: true }]);
    await one.drop(second.id);
    expect((await search(other, second)).rows).toEqual([{ x: 'b' }]);
    await expect(search(one, second)).rejects.toMatchObject({ status: 410 });
    await expect(one.drop('*')).rejects.toThrow('Not the id of a generation');
    for (const index of [one, other]) for (const { id } of await index.generations()) await index.drop(id);
  });
});
