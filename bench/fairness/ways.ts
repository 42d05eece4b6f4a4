/** The ways in which a neighbour uses more than its part of the service. */
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { BASE, call, createForm, inParallel, PORT, send } from './client.ts';
import type { ReadName } from './victim.ts';
import { csvOf, type Neighbour } from './world.ts';

/** Requests a second of a neighbour after its first ones: the default of `RATE_LIMIT_API`. */
const MAX_REQUESTS_PER_SECOND = 20;
const SEARCHED_COPIES = 8;
const SOCKETS = 40;
const SUBSCRIPTIONS_PER_SOCKET = 100;
/** Refreshes that wait before the attack goes on to queue more of them. */
const QUEUED_REFRESHES = 600;
const QUEUED_PER_SECOND = 40;
/** Jobs that call a host which does not resolve, and do so again in an hour: more than the places of a tenant. */
const FAILING_JOBS = 30;
/** Concurrent calls of webhooks, and maximum number of calls in a second. */
const WEBHOOK_CONNECTIONS = 64;
const WEBHOOKS_PER_SECOND = 2000;
/** Rows of a file of some 10 MB. */
const UPLOADED_ROWS = 250_000;

export interface Way {
  /** A letter, and the variant. */
  key: string;
  title: string;
  /** Reads of the victim in addition to pages. */
  reads?: ReadName[];
  /** Runs before the attack. Returns paths for it. */
  prepare?(neighbour: Neighbour): Promise<string[]>;
  /** Begins the attack, which lasts until the process is killed. */
  attack(neighbour: Neighbour, paths: string[]): void;
  /** Removes what the attack left behind. */
  cleanUp?(neighbour: Neighbour, paths: string[]): Promise<void>;
}

/** Repeats a request on a number of connections, whatever its response. */
function repeat(
  connections: number,
  request: (connection: number, turn: number) => Promise<unknown>,
  perSecond = MAX_REQUESTS_PER_SECOND,
): void {
  for (let connection = 0; connection < connections; connection++)
    void (async () => {
      for (let turn = 0; ; turn++) {
        const pause = sleep((connections / perSecond) * 1000);
        await request(connection, turn).catch(() => {});
        await pause;
      }
    })();
}

const times = <T>(count: number, item: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => item(n));

/** Fields that find the large dataset's profile a number of times, each in a pass over its rows. */
const discover = (count: number, parameters = ''): string =>
  times(count, (n) => `a${n}: discover${parameters} { total }`).join(' ');

/** Repeats a document with these selections of the large dataset, by alias. */
function repeatDocument(connections: number, selections: Record<string, string>): Way['attack'] {
  return ({ token, dataset }) => {
    const id = dataset.split('/').pop();
    const roots = Object.entries(selections).map(([alias, fields]) => `${alias}: dataset(id: "${id}") { ${fields} }`);
    repeat(connections, () => send(token, '/graphql', { body: { query: `{ ${roots.join(' ')} }` } }));
  };
}

const UNUSED_VALUES = times(200_000, (n) => ({ n }));

/** Repeats a GraphQL request on 30 connections. No two documents are equal, so that none of them is found in a store. */
const repeatNewDocument =
  (create: (name: string) => object): Way['attack'] =>
  ({ token }) =>
    repeat(30, (connection, turn) => send(token, '/graphql', { body: create(`x${connection}_${turn}`) }));

/** Questions of some 300 to 500 milliseconds each. */
const EXPENSIVE = [
  (neighbour: Neighbour) =>
    send(neighbour.token, `${neighbour.dataset}/_aggregate`, {
      body: {
        groupBy: [{ field: 'customer' }, { field: 'country' }],
        measures: [
          { fn: 'sum', field: 'amount', as: 'sum' },
          { fn: 'countDistinct', field: 'h1', as: 'distinct' },
        ],
        sort: '-sum',
      },
    }),
  ({ token, dataset }: Neighbour) => send(token, `${dataset}/data?sort=-h2,h1&start=9000&limit=1000`),
  ({ token, dataset }: Neighbour) => send(token, `${dataset}/data?q=customer%20a&sort=-h1&limit=100`),
];

/** Opens exports and reads none of their bytes. */
const openUnreadExports =
  (count: number): Way['attack'] =>
  ({ token, dataset }) =>
    repeat(count, async () => {
      const socket = net.connect(PORT, '127.0.0.1').pause();
      socket.write(
        `GET ${dataset}/export?format=json HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`,
      );
      await new Promise((resolve) => socket.once('error', resolve).once('close', resolve));
    });

const repeatQuery =
  (connections: number, datasource: 'file' | 'source', query: string): Way['attack'] =>
  (neighbour) =>
    repeat(connections, () => send(neighbour.token, `${neighbour[datasource]}/_query`, { body: { query } }));

/** Some ten seconds on two cores. */
const CROSS_JOIN = `select count(*) from data a, data b where a.note || b.note like '%zz%z'`;

/** Opens subscriptions to a dataset that is refreshed again and again. */
function subscribe({ token, small }: Neighbour): void {
  const query = `subscription { datasetUpdated(id: "${small.split('/').pop()}") { id name records dataUpdatedAt } }`;
  for (let n = 0; n < SOCKETS; n++) {
    const socket = new WebSocket(`${BASE.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    const sendMessage = (message: object) => socket.send(JSON.stringify(message));
    socket.addEventListener('open', () =>
      sendMessage({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }),
    );
    socket.addEventListener('message', ({ data }) => {
      if (!String(data).includes('connection_ack')) return;
      for (let id = 0; id < SUBSCRIPTIONS_PER_SOCKET; id++)
        sendMessage({ id: String(id), type: 'subscribe', payload: { query } });
    });
  }
  repeat(1, () => send(token, `${small}/_refresh`, { body: {} }));
}

/** Queues a refresh that is unlike all others, so that it joins none. */
const queueRefresh = ({ token, queued }: Neighbour, n: number) =>
  send(token, `${queued[n % queued.length]}/_refresh`, {
    body: { params: { n } },
    headers: { prefer: 'respond-async' },
  });

/** Cancels the neighbour's operations that have not ended. */
async function cancelOperations({ token }: Neighbour): Promise<void> {
  for (const status of ['queued', 'running']) {
    for (;;) {
      const { _embedded } = await call(token, `/api/progress?limit=1000&status=${status}`);
      const ids = (_embedded['svc:operation'] as { id: string }[]).map(({ id }) => id);
      if (ids.length === 0) break;
      // The cancellation of an operation that has ended is refused.
      await inParallel(ids, (id) => send(token, `/api/progress/${id}`, { method: 'DELETE' }));
    }
  }
}

/** An app that stores each call in a transaction. */
const INBOX = {
  'migrations/001.sql': 'create table calls (id bigint generated always as identity primary key, body jsonb)',
  'webhooks/calls.js': `export const post = ({ transaction, request, log }) => {
    log.info('called');
    return transaction(({ query }) => query('insert into calls (body) values ($1) returning id', [request.rawBody]));
  }`,
};

/** Deploys an app with a webhook. Returns the path of the app. */
async function deployInbox({ token }: Neighbour): Promise<string> {
  const { id } = await call(token, '/api/apps', { body: { name: 'Inbox' } });
  const path = `/api/apps/${String(id)}`;
  for (const [name, content] of Object.entries(INBOX)) {
    const body = new FormData();
    body.append('file', new Blob([content]), 'file');
    await call(token, `${path}/files/${name}`, { method: 'PUT', body });
  }
  await call(token, `${path}/_deploy`, { method: 'POST' });
  await call(token, `${path}/_hook/calls`, { body: {} });
  return path;
}

/** Calls a webhook again and again. The limit of calls is off, so that all of them run. */
const floodWebhook: Way['attack'] = ({ token }, [path]) =>
  repeat(
    WEBHOOK_CONNECTIONS,
    (connection, turn) => send(token, `${path}/_hook/calls`, { body: { connection, turn } }),
    WEBHOOKS_PER_SECOND,
  );

/** Starts the runs of jobs that wait to be repeated. Returns the paths of the jobs. */
const startFailingJobs = ({ token }: Neighbour): Promise<string[]> =>
  inParallel(
    times(FAILING_JOBS, (n) => `Failing ${n}`),
    async (name) => {
      const { id } = await call(token, '/api/jobs', { body: { name, type: 'actions' } });
      const path = `/api/jobs/${String(id)}`;
      const data = { url: 'https://no-such-host.invalid/', retry: { times: 5, delay: 3_600_000 } };
      await call(token, `${path}/actions`, { body: { type: 'webhook', name: 'Call', data } });
      await call(token, path, { body: {}, headers: { prefer: 'respond-async' } });
      return path;
    },
  );

export const WAYS: Way[] = [
  {
    key: 'a1',
    title: '50 `discover` and 50 that fail in one document',
    // The failure of `y` nulls `x` too, so that the response is sent while the fields of `x` are still running.
    attack: repeatDocument(1, { x: discover(50, '(fields: ["h2"])'), y: discover(50, '(fields: ["absent"])') }),
  },
  { key: 'a2', title: '2 documents of 50 `discover` of all fields', attack: repeatDocument(2, { x: discover(50) }) },
  {
    key: 'a3',
    title: '3 documents of 40 `discover`',
    attack: repeatDocument(3, { x: discover(40, '(fields: ["h2"])') }),
  },
  {
    key: 'b',
    title: '60 aggregates, sorted pages and searches',
    attack: (neighbour) => repeat(60, (connection) => EXPENSIVE[connection % EXPENSIVE.length]!(neighbour)),
  },
  { key: 'c4', title: '4 exports that are not read', reads: ['export'], attack: openUnreadExports(4) },
  { key: 'c20', title: '20 exports that are not read', reads: ['export'], attack: openUnreadExports(20) },
  { key: 'd6', title: '6 slow file queries', reads: ['file query'], attack: repeatQuery(6, 'file', CROSS_JOIN) },
  { key: 'd60', title: '60 slow file queries', reads: ['file query'], attack: repeatQuery(60, 'file', CROSS_JOIN) },
  {
    key: 'e',
    title: '140 slow queries of a Postgres source',
    reads: ['select 1'],
    attack: repeatQuery(140, 'source', 'select pg_sleep(12)'),
  },
  {
    key: 'f',
    title: '24 uploads of 10 MB',
    reads: ['upload', 'file query'],
    attack({ token }) {
      const content = Buffer.from(csvOf(UPLOADED_ROWS));
      repeat(24, () => send(token, '/api/datasources/_upload', { body: createForm(content) }));
    },
  },
  {
    key: 'g',
    title: `first \`q\` of ${SEARCHED_COPIES} large datasets`,
    reads: ['first q'],
    prepare: ({ token, unsearched }) =>
      inParallel(
        times(SEARCHED_COPIES, (n) => `Copy ${n}`),
        async (name) => {
          const { id } = await call(token, `${unsearched}/copy`, { body: { name } });
          return `/api/datasets/${String(id)}`;
        },
      ),
    attack: ({ token }, paths) =>
      repeat(paths.length, (connection) => send(token, `${paths[connection]}/data?q=customer&limit=1`)),
    async cleanUp({ token }, paths) {
      await inParallel(paths, (path) => send(token, path, { method: 'DELETE' }));
    },
  },
  {
    key: 'h1',
    title: `${SOCKETS * SUBSCRIPTIONS_PER_SOCKET} subscriptions and refreshes`,
    reads: ['refresh'],
    attack: subscribe,
    cleanUp: cancelOperations,
  },
  {
    key: 'h2',
    title: `more than ${QUEUED_REFRESHES} queued refreshes`,
    reads: ['refresh'],
    async prepare(neighbour) {
      await inParallel(
        times(QUEUED_REFRESHES, (n) => n),
        (n) => queueRefresh(neighbour, n),
      );
      return [];
    },
    attack: (neighbour) =>
      repeat(
        QUEUED_PER_SECOND,
        (connection, turn) => queueRefresh(neighbour, QUEUED_REFRESHES + connection + turn * QUEUED_PER_SECOND),
        QUEUED_PER_SECOND,
      ),
    cleanUp: cancelOperations,
  },
  {
    key: 'h3',
    title: `${FAILING_JOBS} runs of jobs that are repeated in an hour`,
    reads: ['job', 'refresh'],
    prepare: startFailingJobs,
    attack: ({ token }, paths) => repeat(paths.length, (connection) => send(token, paths[connection]!, { body: {} })),
    async cleanUp(neighbour, paths) {
      await cancelOperations(neighbour);
      await inParallel(paths, (path) => send(neighbour.token, path, { method: 'DELETE' }));
    },
  },
  {
    key: 'h4',
    title: '4 datasets of an upload that are refreshed with a slow join',
    reads: ['refresh'],
    prepare: ({ token, file }) =>
      inParallel(
        times(4, (n) => `Slow ${n}`),
        async (name) => {
          const body = { name, datasourceId: file.split('/').pop(), query: CROSS_JOIN };
          const { id } = await call(token, '/api/datasets', { body });
          return `/api/datasets/${String(id)}`;
        },
      ),
    attack: ({ token }, paths) =>
      repeat(paths.length, (connection) => send(token, `${paths[connection]}/_refresh`, { body: {} })),
    async cleanUp(neighbour, paths) {
      await cancelOperations(neighbour);
      await inParallel(paths, (path) => send(neighbour.token, path, { method: 'DELETE' }));
    },
  },
  {
    key: 'i',
    title: `webhooks of an app, ${WEBHOOK_CONNECTIONS} concurrently`,
    prepare: async (neighbour) => [await deployInbox(neighbour)],
    attack: floodWebhook,
    async cleanUp({ token }, [path]) {
      const { stats } = await call(token, `${path}/webhooks`);
      console.error(`Calls: ${stats.map(({ count, avgDuration }: any) => `${count} of ${avgDuration} ms`).join()}`);
      await call(token, path!, { method: 'DELETE' });
    },
  },
  {
    key: 'j1',
    title: '30 documents of 10,000 tokens, each of them new',
    attack: repeatNewDocument((name) => ({ query: `{ ${name}: __typename ${'a: __typename '.repeat(3300)} }` })),
  },
  {
    key: 'j2',
    title: '30 documents that nest as deep as they may, each of them new',
    attack: repeatNewDocument((name) => ({
      query: `{ ${name}: me { ${'... on User { ... { '.repeat(120)} id ${'} } '.repeat(120)} } }`,
    })),
  },
  {
    key: 'j3',
    title: '30 documents with 2 MB of variables that are not declared',
    attack: repeatNewDocument((name) => ({ query: `{ ${name}: __typename }`, variables: { rest: UNUSED_VALUES } })),
  },
  {
    key: 'j4',
    title: '30 documents that read the SDL, each of them new',
    attack: repeatNewDocument((name) => ({ query: `{ ${name}: _service { sdl } }` })),
  },
  {
    key: 'j5',
    title: '30 logins over GraphQL with a password of 1 MB',
    attack: repeatNewDocument((name) => ({
      query: `mutation ($p: String!) { ${name}: login(username: "nobody", password: $p) { expiresAt } }`,
      variables: { p: 'p'.repeat(1_000_000) },
    })),
  },
];
