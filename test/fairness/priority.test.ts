import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { expect, test } from 'vitest';
import { eventually } from '../operation/fixture.ts';
import { childrenOf } from '../operation/refreshable.ts';
import { createDatabase } from '../support/postgres.ts';
import { ADMIN_PASSWORD, byToken, logIn, newFolder, startProcess } from '../support/service-process.ts';
import { createForm, DATASETS, DATASOURCES } from '../support/upload-form.ts';

/** Returns the name and the niceness of a thread or process of Linux. */
function priorityOf(folder: string): { name: string; niceness: number } {
  const [, name, rest] = /^\d+ \((.*)\) (.*)/s.exec(readFileSync(`${folder}/stat`, 'utf8'))!;
  return { name: name!, niceness: Number(rest!.split(' ')[16]) };
}

/** Returns the title of a process in lists of processes. */
const titleOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8');

/** Returns how many threads of a process have which name and niceness. */
function threadsOf(pid: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const { name, niceness } = priorityOf(`/proc/${pid}/task/${thread}`);
    counts[`${name} ${niceness}`] = (counts[`${name} ${niceness}`] ?? 0) + 1;
  }
  return counts;
}

test.skipIf(platform() !== 'linux')(
  'the thread pool and the child processes have a lower priority than the event loop',
  async () => {
    const { path: DATA_DIR, remove } = newFolder();
    const database = await createDatabase();
    const service = await startProcess({ DATA_DIR, DATABASE_URL: database.url, ADMIN_PASSWORD });
    try {
      const admin = await byToken(await logIn(service.url));
      // DuckDB opens its files in threads of the pool, and starts threads of its own.
      const { status } = await admin.request('POST', `/api${DATASETS}`, createForm('a\n1\n'));
      const threads = threadsOf(service.pid);
      const pool = Object.entries(threads).filter(([thread]) => thread.startsWith('libuv-worker'));
      expect([status, priorityOf(`/proc/${service.pid}`).niceness, pool.map(([thread]) => thread)]).toEqual([
        201,
        0,
        ['libuv-worker 5'],
      ]);
      expect(pool[0]![1]).toBeGreaterThanOrEqual(16);

      const { body: file } = await admin.request('POST', `/api${DATASOURCES}`, createForm('a\n1\n'));
      const stop = new AbortController();
      const query = 'select count(*) from range(1000000) a(x), range(1000000) b(y) where x * y % 7 = 3';
      const slow = fetch(`${service.url}/api/datasources/${file.id}/_query`, {
        method: 'POST',
        headers: { ...admin.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
        signal: stop.signal,
      }).catch(() => {});
      const isLow = async () => {
        const children = (await childrenOf(service.pid)).filter((child) => !titleOf(child).includes('spare'));
        // The group of its session too, where the system has such groups.
        const group = `/proc/${children[0]}/autogroup`;
        return (
          children.length === 1 &&
          priorityOf(`/proc/${children[0]}`).niceness === 5 &&
          (!existsSync(group) || / nice 5$/m.test(readFileSync(group, 'utf8')))
        );
      };
      expect(await eventually(isLow)).toBe(true);
      stop.abort();
      await slow;
    } finally {
      await service.end('SIGTERM');
      await database.drop();
      remove();
    }
  },
  120_000,
);
