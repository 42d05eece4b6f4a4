/** The reads of the victim, and how long it waits. */
import { setTimeout as sleep } from 'node:timers/promises';
import { call, createForm, inParallel, send } from './client.ts';
import { csvOf, type Victim } from './world.ts';

/** Milliseconds between two reads of one kind. */
const PAUSE_MS = 20;
/** Number of datasets that are searched for the first time in one measurement. */
const SEARCHED_DATASETS = 60;
/** Time after which a read that began at the end of a measurement counts as unfinished. */
const GRACE_MS = 2000;

interface Read {
  /** Runs before a measurement, without an attack. */
  prepare?(): Promise<void>;
  /** Reads once. Returns the status; undefined when there is nothing left to read. */
  run(signal: AbortSignal): Promise<number | undefined>;
}

export type ReadName =
  | 'page'
  | 'GraphQL page'
  | 'export'
  | 'file query'
  | 'select 1'
  | 'upload'
  | 'first q'
  | 'refresh'
  | 'job';
export type Reads = Record<ReadName, Read>;

/** Times in milliseconds. */
export interface Figures {
  p50: number;
  p99: number;
  max: number;
  /** Number of reads, failed ones included. */
  reads: number;
  /** Number of responses 503. */
  unavailable: number;
  /** Number of other errors and of reads that had no response at the end of the measurement. */
  failed: number;
}

export interface Duration {
  seconds: number;
  /** The measurement is longer until each read of the goal ran this often. */
  leastReads: number;
  /** Maximum duration. Reads that have then begun are aborted after `GRACE_MS`. */
  mostSeconds: number;
}

/** Reads that are shown without a goal: operations are queued by design. */
export const OUTSIDE_GOAL: ReadonlySet<string> = new Set<ReadName>(['refresh', 'job']);

/** Returns the status of a GraphQL response, or the status of its first error. */
function graphqlStatus({ status, text }: { status: number; text: string }): number {
  const { errors } = JSON.parse(text) as { errors?: { extensions: { status?: number } }[] };
  return errors ? (errors[0]!.extensions.status ?? 500) : status;
}

/** Returns all kinds of reads of the victim. */
export function createReads({ token, dataset, unsearched, source, file, job }: Victim): Reads {
  const get = (path: string, body?: object) => async (signal: AbortSignal) =>
    (await send(token, path, { signal, ...(body && { body }) })).status;
  const query = `{ dataset(id: "${dataset.split('/').pop()}") { data(limit: 5) { items } } }`;
  const small = csvOf(100);
  const copies: string[] = [];
  return {
    page: { run: get(`${dataset}/data?limit=5`) },
    'GraphQL page': {
      run: async (signal) => graphqlStatus(await send(token, '/graphql', { body: { query }, signal })),
    },
    export: { run: get(`${dataset}/export?format=json`) },
    'file query': { run: get(`${file}/_query`, { query: 'select count(*) from data' }) },
    'select 1': { run: get(`${source}/_query`, { query: 'select 1' }) },
    upload: {
      run: async (signal) =>
        (await send(token, '/api/datasources/_upload', { body: createForm(small), signal })).status,
    },
    'first q': {
      async prepare() {
        const names = Array.from({ length: SEARCHED_DATASETS - copies.length }, (_, n) => `Copy ${n}`);
        const created = await inParallel(names, (name) => call(token, `${unsearched}/copy`, { body: { name } }));
        copies.push(...created.map(({ id }) => `/api/datasets/${String(id)}`));
      },
      async run(signal) {
        const copy = copies.pop();
        return copy === undefined ? undefined : get(`${copy}/data?q=customer&limit=5`)(signal);
      },
    },
    refresh: { run: get(`${dataset}/_refresh`, {}) },
    job: { run: get(job, {}) },
  };
}

const UNFINISHED = 'unfinished';

/** Runs each of the reads again and again, one after another, and all kinds at the same time. */
export async function measure<N extends ReadName>(
  reads: Pick<Reads, N>,
  { seconds, leastReads, mostSeconds }: Duration,
): Promise<Record<N, Figures>> {
  const all = Object.entries<Read>(reads).map(([name, read]) => ({
    name,
    read,
    isExhausted: false,
    outcomes: [] as { ms: number; status: number | typeof UNFINISHED }[],
  }));
  const began = performance.now();
  const signal = AbortSignal.timeout(mostSeconds * 1000 + GRACE_MS);
  const hasEnough = ({ name, isExhausted, outcomes }: (typeof all)[number]) =>
    isExhausted || OUTSIDE_GOAL.has(name) || outcomes.length >= leastReads;
  const isOver = () => {
    const elapsed = (performance.now() - began) / 1000;
    return elapsed >= mostSeconds || (elapsed >= seconds && all.every(hasEnough));
  };
  await Promise.all(
    all.map(async (one) => {
      while (!isOver()) {
        const sent = performance.now();
        const status = await one.read.run(signal).catch(() => (signal.aborted ? UNFINISHED : 0));
        one.isExhausted = status === undefined;
        if (status === undefined) return;
        one.outcomes.push({ ms: performance.now() - sent, status });
        await sleep(PAUSE_MS);
      }
    }),
  );
  return Object.fromEntries(all.map(({ name, outcomes }) => [name, figuresOf(outcomes)])) as Record<N, Figures>;
}

/** Counts the times of reads that succeeded, and of reads that waited until the end. */
function figuresOf(outcomes: { ms: number; status: number | typeof UNFINISHED }[]): Figures {
  const isSuccess = (status: number | typeof UNFINISHED) => status === 200 || status === 201;
  const times = outcomes
    .filter(({ status }) => isSuccess(status) || status === UNFINISHED)
    .map(({ ms }) => ms)
    .toSorted((a, b) => a - b);
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? NaN;
  const unavailable = outcomes.filter(({ status }) => status === 503).length;
  return {
    p50: at(0.5),
    p99: at(0.99),
    max: at(1),
    reads: outcomes.length,
    unavailable,
    failed: outcomes.filter(({ status }) => !isSuccess(status)).length - unavailable,
  };
}
