/**
 * Measures the start of the built service with its embedded Postgres on a warm DATA_DIR, and the memory of its process,
 * idle and under lists of 30 queries: `npm run build && node bench/start.ts [starts=3] [idle=60] [seconds=20] [dist=dist]`.
 * Prints Markdown. `idle` are the seconds after which memory is read.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { runningEmbeddedPostgres } from '../src/adapters/embedded-postgres/embedded-postgres.ts';
import { freePort } from '../tools/engine.ts';
import { fill, TOKENS } from './fill.ts';
import { sendLoad } from './load.ts';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { SERVICE_FLAGS, ownMemoryOf, startServer, stopServer } from './processes.ts';
import { report } from './report.ts';
import { request } from './requests.ts';
import { mainOf } from './service.ts';

const { starts, idle, seconds, dist } = readOptions({ starts: '3', idle: '60', seconds: '20', dist: 'dist' });
const dataDir = mkdtempSync('/tmp/dws-start-');
execFileSync('chmod', ['711', dataDir]);
const env = {
  DATA_DIR: join(dataDir, 'data'),
  APP_SECRET: 'a secret for benchmarks of enough characters',
  NODE_ENV: 'production',
  RATE_LIMIT_API: '0',
  SEED_DEMO: 'false',
  LOG_LEVEL: 'silent',
};
const port = await freePort();

async function timedStart() {
  const began = performance.now();
  const command = [process.execPath, ...SERVICE_FLAGS, mainOf(dist), 'serve', '--port', String(port)];
  const child = await startServer('0,1', command, env, `http://127.0.0.1:${port}/readyz`);
  return { child, seconds: (performance.now() - began) / 1000, memory: () => ownMemoryOf(child.pid!) };
}

try {
  // The first start creates the cluster and the schema.
  await stopServer((await timedStart()).child);
  const took: number[] = [];
  for (let start = 1; start < Number(starts); start++) {
    const { child, seconds } = await timedStart();
    took.push(seconds);
    await stopServer(child);
  }
  const last = await timedStart();
  took.push(last.seconds);
  try {
    await setTimeout(Number(idle) * 1000);
    const unused = last.memory();
    await fill(runningEmbeddedPostgres(env.DATA_DIR)!, 10_000);
    const requests = [request('GET', '/api/queries?limit=30&sort=name', TOKENS.superuser)];
    await sendLoad({ port, connections: 16, seconds: Number(seconds), requests });
    const busy = last.memory();
    const median = took.toSorted((a, b) => a - b)[took.length >> 1]!;
    console.log(`## Start: ${took.map((one) => one.toFixed(2)).join(', ')} s to /readyz\n`);
    printTable(
      ['', 'MiB'],
      [
        [`idle for ${idle} s`, unused.toFixed(0)],
        [`after ${seconds} s of W1`, busy.toFixed(0)],
      ],
    );
    report([
      { what: 'start to ready, warm, median', goal: 'startReady', value: median },
      { what: 'memory, all roles, idle', goal: 'idleMemory', value: unused },
      { what: 'memory, all roles, under W1', goal: 'busyMemory', value: busy },
    ]);
  } finally {
    await stopServer(last.child);
  }
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
