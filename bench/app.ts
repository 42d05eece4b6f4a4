/**
 * Measures apps: `npm run build && node bench/app.ts [rounds=9] [calls=100] [queries=600] [dist=dist]`. Prints Markdown.
 *
 * - The CPU of an empty handler through HTTP, of the service with its sandbox and of Postgres, as a multiple of the same
 *   function in a bare fresh isolate. Both are measured in turn.
 * - A handler with one `query`: p50 of single calls, and calls a second of 8 clients.
 * - The time of a deployment of 100 modules.
 */
import ivm from 'isolated-vm';
import { TOKENS } from './fill.ts';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { cpuOf } from './processes.ts';
import { report } from './report.ts';
import { withService, type Service } from './service.ts';

const options = readOptions({ rounds: '9', calls: '100', queries: '600', dist: 'dist' });
const [ROUNDS, CALLS, QUERIES] = [Number(options.rounds), Number(options.calls), Number(options.queries)];
const CLIENTS = 8;
const MODULES = 100;
const EMPTY = 'export const get = () => ({ ok: true });';

/** Runs the empty handler in an isolate of this process. */
async function runBare(): Promise<void> {
  const isolate = new ivm.Isolate({ memoryLimit: 128 });
  try {
    const context = await isolate.createContext();
    const module = await isolate.compileModule(EMPTY, { filename: 'server/empty.js' });
    await module.instantiate(context, () => {
      throw new Error('There are no imports');
    });
    await module.evaluate();
    const get = await module.namespace.get('get', { reference: true });
    await get.apply(undefined, [], { result: { promise: true, copy: true } });
  } finally {
    isolate.dispose();
  }
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;

/** Creates an app with these files. Returns the path of its API. */
async function createApp({ call, base }: Service, name: string, files: Record<string, string>): Promise<string> {
  const { id } = await call('POST', '/api/apps', { name });
  for (const [path, body] of Object.entries(files)) {
    const headers = { authorization: `Bearer ${TOKENS.superuser}`, 'content-type': 'text/plain' };
    const { ok, status } = await fetch(`${base}/api/apps/${id}/files/${path}`, { method: 'PUT', headers, body });
    if (!ok) throw new Error(`${path}: ${status}`);
  }
  return `/api/apps/${id}`;
}

async function request(url: string): Promise<void> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${TOKENS.superuser}` } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 500)}`);
}

interface Cost {
  bare: number;
  service: number;
  postgres: number;
}

/** Returns the milliseconds of CPU of one call, in each round. */
async function measureCpu({ pids, postmaster }: Service, url: string): Promise<Cost[]> {
  const costOf = async (roots: number[], work: () => Promise<void>): Promise<number[]> => {
    const before = roots.map(cpuOf);
    for (let n = 0; n < CALLS; n++) await work();
    return roots.map((root, i) => ((cpuOf(root) - before[i]!) * 1000) / CALLS);
  };
  const costs: Cost[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const [bare] = await costOf([process.pid], runBare);
    const [postgres, ...service] = await costOf([postmaster, ...pids], () => request(url));
    costs.push({ bare: bare!, postgres: postgres!, service: service.reduce((sum, one) => sum + one) });
  }
  return costs;
}

/** Returns the milliseconds of single calls, and the calls a second of several clients. */
async function measureSpeed(url: string): Promise<{ p50: number; perSecond: number }> {
  const times: number[] = [];
  for (let n = 0; n < QUERIES / 4; n++) {
    const begin = performance.now();
    await request(url);
    times.push(performance.now() - begin);
  }
  let left = QUERIES;
  const begin = performance.now();
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (left-- > 0) await request(url);
  });
  await Promise.all(clients);
  return { p50: median(times), perSecond: QUERIES / ((performance.now() - begin) / 1000) };
}

async function measureDeployment(service: Service): Promise<number> {
  const files = Object.fromEntries(
    Array.from({ length: MODULES }, (_, n) => [
      `server/m${n}.ts`,
      `import { add } from '../lib/add.ts';\nexport const get = ({ request }: any): number => add(request.params.length as number, ${n});`,
    ]),
  );
  const lib = 'export const add = (one: number, other: number): number => one + other;';
  const path = await createApp(service, 'Many modules', { ...files, 'lib/add.ts': lib });
  const times: number[] = [];
  for (let n = 0; n < 5; n++) {
    const begin = performance.now();
    await service.call('POST', `${path}/_deploy`);
    times.push(performance.now() - begin);
  }
  return median(times);
}

const { dist } = options;
await withService({ roles: ['all'], dist, env: { LOG_LEVEL: 'silent', RATE_LIMIT_API: '0' } }, async (service) => {
  const path = await createApp(service, 'Measured', {
    'migrations/001.sql': 'create table note (id int primary key, text text); insert into note values (1, $$a$$)',
    'server/empty.js': EMPTY,
    'server/query.js': `export const get = ({ query }) => query('select * from note where id = $1', [1]);`,
  });
  await service.call('POST', `${path}/_deploy`);
  const urlOf = (route: string) => `${service.base}${path}/view/${route}`;
  // Starts the sandbox and compiles what is used.
  for (let n = 0; n < 50; n++) for (const route of ['empty', 'query']) await request(urlOf(route));
  const costs = await measureCpu(service, urlOf('empty'));
  const of = (what: keyof Cost): number => median(costs.map((cost) => cost[what]));
  const ratioOf = (cost: (one: Cost) => number): number => median(costs.map((one) => cost(one) / one.bare));
  const all = ratioOf(({ service: own, postgres }) => own + postgres);
  const line = (what: string, cpu: number, ratio: number) => [what, cpu.toFixed(2), ratio.toFixed(2)];
  printTable(
    ['', 'ms of CPU', '× isolate'],
    [
      line('bare fresh isolate', of('bare'), 1),
      line(
        'service and sandbox',
        of('service'),
        ratioOf((one) => one.service),
      ),
      line(
        'Postgres',
        of('postgres'),
        ratioOf((one) => one.postgres),
      ),
    ],
  );
  const { p50, perSecond } = await measureSpeed(urlOf('query'));
  const deployment = await measureDeployment(service);
  report([
    { what: 'CPU of an empty handler, of all processes', goal: 'appHandler', value: all },
    { what: 'a handler with a query, p50', goal: 'appQuery', value: p50 },
    { what: `handlers with a query, ${CLIENTS} clients`, goal: 'appRate', value: perSecond },
    { what: `deployment of ${MODULES} modules`, goal: 'appDeploy', value: deployment / 1000 },
  ]);
});
