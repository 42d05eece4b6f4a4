/**
 * Measures the CPU of rendering a nunjucks template with a table of 5,000 rows and of 10 rows, as a multiple of the library
 * alone in a fresh isolate: `node bench/template.ts [rows=5000] [rounds=15]`. Both are measured in turn. The isolate alone gets
 * the same template and data, and escapes values, too; the service adds its processes, places of mistakes and limits.
 */
import { readFileSync } from 'node:fs';
import ivm from 'isolated-vm';
import { openSandbox } from '../src/adapters/sandbox/sandbox.ts';
import { createNunjucksEngine } from '../src/adapters/template-engine/nunjucks-engine.ts';
import type { RenderTask } from '../src/core/template-engine.ts';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { cpuOf } from './processes.ts';
import { report } from './report.ts';

const options = readOptions({ rows: '5000', rounds: '15' });
const ROUNDS = Number(options.rounds);
const LIBRARY = readFileSync(new URL('../node_modules/nunjucks/browser/nunjucks.js', import.meta.url), 'utf8');
const TEMPLATE = `<table><thead><tr><th>Id</th><th>Name</th><th>City</th><th>Date</th><th>Total</th><th>Note</th></tr></thead>
{% for row in orders.rows %}<tr class="{% if loop.index0 % 2 %}odd{% endif %}"><td>{{ row.id }}</td><td>{{ row.name }}</td>
<td>{{ row.city | upper }}</td><td>{{ row.date }}</td><td>{{ row.total | round(2) }}</td><td>{{ row.note | default("") }}</td></tr>
{% endfor %}</table>`;
const RENDER = `const env = new nunjucks.Environment([], { autoescape: true });
  return new nunjucks.Template($0, env, 'main.njk', true).render(JSON.parse($1));`;

const dataOf = (rows: number) => ({
  orders: {
    rows: Array.from({ length: rows }, (_, n) => ({
      id: n,
      name: `Customer <${(n * 7919) % 5000}>`,
      city: ['Berlin', 'Łódź', 'Zürich'][n % 3],
      date: new Date(1.7e12 + n * 1e7).toISOString(),
      total: (n * 31) / 7,
      note: n % 4 ? `note & "${n}"` : null,
    })),
  },
});

const sandbox = openSandbox();
const engine = createNunjucksEngine(sandbox);

async function renderAlone(data: object): Promise<string> {
  const isolate = new ivm.Isolate({ memoryLimit: 256 });
  try {
    const context = await isolate.createContext();
    await (await isolate.compileScript(LIBRARY)).run(context);
    return (await context.evalClosure(RENDER, [TEMPLATE, JSON.stringify(data)])) as string;
  } finally {
    isolate.dispose();
  }
}

async function renderInService(data: Record<string, unknown>): Promise<string> {
  const task: RenderTask = {
    caller: { tenantId: 'tenant', userId: 'user' },
    filename: 'main.njk',
    templates: new Map([['main.njk', { contentType: 'text/html', content: Buffer.from(TEMPLATE) }]]),
    dataFiles: new Map(),
    asset: async () => null,
    data,
    settings: { locale: 'en', timezone: 'UTC', strict: false },
    handler: 'html',
    handlerOptions: {},
    signal: new AbortController().signal,
  };
  return Buffer.from((await engine.render(task)).content).toString();
}

/** Returns the milliseconds of CPU of this process and its children, and those that pass, of a number of renders. */
async function measure(render: () => Promise<unknown>, count: number): Promise<{ cpu: number; ms: number }> {
  const [cpu, began] = [cpuOf(process.pid), performance.now()];
  for (let n = 0; n < count; n++) await render();
  return { cpu: ((cpuOf(process.pid) - cpu) * 1000) / count, ms: (performance.now() - began) / count };
}

const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;

async function compare(rows: number, perRound: number): Promise<number> {
  const data = dataOf(rows);
  const ways = { alone: () => renderAlone(data), service: () => renderInService(data) };
  if ((await ways.alone()) !== (await ways.service())) throw new Error('The outputs differ');
  const measured = { alone: [] as { cpu: number; ms: number }[], service: [] as { cpu: number; ms: number }[] };
  for (let round = 0; round < ROUNDS; round++)
    for (const way of ['alone', 'service'] as const) measured[way].push(await measure(ways[way], perRound));
  const of = (way: 'alone' | 'service', what: 'cpu' | 'ms') => median(measured[way].map((one) => one[what]));
  const ratio = median(measured.service.map(({ cpu }, n) => cpu / measured.alone[n]!.cpu));
  console.log(`\n${rows} rows\n`);
  printTable(
    ['', 'ms', 'ms of CPU', 'CPU × library'],
    [
      ['library in a fresh isolate', of('alone', 'ms').toFixed(1), of('alone', 'cpu').toFixed(1), '1.00'],
      ['service', of('service', 'ms').toFixed(1), of('service', 'cpu').toFixed(1), ratio.toFixed(2)],
    ],
  );
  return ratio;
}

try {
  await compare(10, 10);
  const ratio = await compare(Number(options.rows), 4);
  report([{ what: `CPU of a template with ${options.rows} rows`, goal: 'template', value: ratio }]);
} finally {
  await sandbox.close();
}
