/**
 * Measures uploads of 40 bytes and refreshes of 10 rows from Postgres, from the request to the response with the loaded
 * dataset: `npm run build && node bench/upload.ts [rounds=15] [pause=500] [dist=dist]`. Prints Markdown. One process
 * with both roles and the embedded index. `pause` is the time in milliseconds between two requests.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startEmbeddedPostgres } from '../src/adapters/embedded-postgres/embedded-postgres.ts';
import { TOKENS } from './fill.ts';
import { printTable } from './markdown.ts';
import { prepareService } from './prepare-service.ts';
import { memoryOf, SERVICE_FLAGS, startServer, stopServer, treeOf } from './processes.ts';

const given = Object.fromEntries(process.argv.slice(2).map((argument) => argument.split('='))) as Record<
  string,
  string
>;
const { rounds = '15', pause = '500', dist = 'dist' } = given;
const MAIN = join(import.meta.dirname, '..', dist, 'src/server/main.js');
const PORT = 6141;

/** 40 bytes. */
const FILE = 'id,name,price\n1,one,1.50\n2,two,2.75\n3,,\n';

async function call(path: string, body: FormData | object): Promise<Record<string, unknown>> {
  const form = body instanceof FormData;
  const response = await fetch(`http://127.0.0.1:${PORT}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKENS.superuser}`, ...(!form && { 'content-type': 'application/json' }) },
    body: form ? body : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

async function upload(): Promise<void> {
  const form = new FormData();
  form.append('file', new Blob([FILE], { type: 'text/csv' }), 'prices.csv');
  const { records } = await call('/api/datasets/_upload', form);
  if (records !== 3) throw new Error(`${String(records)} rows were loaded`);
}

const dir = mkdtempSync('/tmp/dws-upload-');
execFileSync('chmod', ['711', dir]);
const postgres = await startEmbeddedPostgres({ dataDir: dir, durable: false });
let server: Awaited<ReturnType<typeof startServer>> | undefined;
try {
  const env = await prepareService(MAIN, postgres.url, dir);
  server = await startServer(
    '0,1',
    [process.execPath, ...SERVICE_FLAGS, MAIN, 'serve', '--port', String(PORT)],
    { ...env, ROLE: 'all' },
    `http://127.0.0.1:${PORT}/healthz`,
  );
  const main = server.pid!;
  await setTimeout(2000);
  const idle = memoryOf(main);
  const { hostname, port, username, password } = new URL(postgres.url);
  const { id: datasourceId } = await call('/api/datasources', {
    name: 'Numbers',
    type: 'postgres',
    // The service refuses its own database, and a cluster has this one besides.
    config: { host: hostname, port: Number(port), database: 'postgres', user: username },
    secrets: { password: decodeURIComponent(password) },
  });
  const query = `select n as id, 'name ' || n as name, n / 8.0 as price from generate_series(1, 10) n`;
  const { id } = await call('/api/datasets', { name: 'Numbers', datasourceId, query });
  const refresh = async () => {
    const { records } = await call(`/api/datasets/${String(id)}/_refresh`, {});
    if (records !== 10) throw new Error(`${String(records)} rows were loaded`);
  };

  const works = { 'upload of 40 bytes': upload, 'refresh of 10 rows': refresh };
  const lines: string[][] = [];
  for (const [what, work] of Object.entries(works)) {
    const times: number[] = [];
    // The first two only warm caches.
    for (let round = -2; round < Number(rounds); round++) {
      await setTimeout(Number(pause));
      const start = performance.now();
      await work();
      if (round >= 0) times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    lines.push([what, ...[times[0]!, times[times.length >> 1]!, times.at(-1)!].map((ms) => ms.toFixed(0))]);
  }
  printTable(['', 'fastest ms', 'median ms', 'slowest ms'], lines);
  await setTimeout(1000);
  const rest = treeOf(main).slice(1);
  console.log(
    `\nMemory of the service: ${idle.toFixed(0)} MiB before its first use, then ` +
      `${(memoryOf(main) - rest.reduce((sum, pid) => sum + memoryOf(pid), 0)).toFixed(0)} MiB and ${rest.length} child processes` +
      ` of ${rest.map((pid) => `${memoryOf(pid).toFixed(0)} MiB`).join(', ')}`,
  );
} finally {
  if (server) await stopServer(server);
  await postgres.close();
  rmSync(dir, { recursive: true, force: true });
}
