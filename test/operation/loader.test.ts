import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDuckdbIndex } from '../../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { folder } from '../../src/adapters/dataset-index/duckdb/generation-files.ts';
import type { Generation } from '../../src/core/dataset-index.ts';
import { newId } from '../../src/core/id.ts';
import type { FromLoader, LoadJob, ToLoader } from '../../src/operations/load-job.ts';
import { loadTexts, createColumn, NEVER } from '../dataset-index/generation-fixture.ts';
import { createDatabase } from '../support/postgres.ts';

/** Returns the unfinished files in a generation's folder. */
const unfinishedFiles = async (dir: string, id: string): Promise<string[]> =>
  (await readdir(folder(dir, id)).catch(() => [])).filter((name) => name.endsWith('.building'));

async function untilWordsAreSplit(dir: string, id: string): Promise<void> {
  while ((await unfinishedFiles(dir, id)).length === 0) await sleep(5);
}

test('a loader exits when its parent exits, even while it splits words', async () => {
  const database = await createDatabase('template0');
  const dir = await mkdtemp(join(tmpdir(), 'dws-loader-'));
  const { hostname, port, pathname, username, password } = new URL(database.url);
  const child = fork(new URL('../../src/operations/loader.ts', import.meta.url), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  try {
    const generationId = newId();
    const job: LoadJob = {
      databaseUrl: database.url,
      index: { dir, engine: null },
      ownDatabase: null,
      generationId,
      source: {
        type: 'postgres',
        config: { host: hostname, port: Number(port), database: pathname.slice(1), user: username },
        secrets: { password },
        file: null,
      },
      query: {
        text: `select n, 'Zoë ŁÓDŹ straße ' || n as x from generate_series(1, 600000) n`,
        parameters: [],
        timeout: 60_000,
      },
      plan: { flow: [], maxRows: 0 },
    };
    const send = (message: ToLoader) => child.send(message);
    const loaded = new Promise<Generation>((resolve, reject) =>
      child.on('message', (message: FromLoader) => {
        if (message.kind === 'loaded') resolve(message.generation);
        else if (message.kind !== 'progress') reject(new Error(JSON.stringify(message)));
      }),
    );
    send({ kind: 'load', job });
    send({ kind: 'published', generation: await loaded });
    await untilWordsAreSplit(dir, generationId);
    child.disconnect();
    await once(child, 'exit');
    expect(child.signalCode).toBe('SIGKILL');
  } finally {
    child.kill('SIGKILL');
    await rm(dir, { recursive: true, force: true });
    await database.drop();
  }
}, 30_000);

test('closing the index stops the splitting of words and deletes its files', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'dws-closing-'));
  const index = openDuckdbIndex({ dir });
  try {
    const generation = await loadTexts(
      index,
      [createColumn('x', 'string')],
      Array.from({ length: 400_000 }, (_, n) => [`Zoë ŁÓDŹ straße ${n}`]),
    );
    const outcome = index.prepareWords(generation, NEVER).catch((error: unknown) => error);
    await untilWordsAreSplit(dir, generation.id);
    await index.close();
    expect(await outcome).toMatchObject({ status: 503 });
    expect(await readdir(folder(dir, generation.id))).toEqual(['rows.duckdb']);
  } finally {
    await index.close();
    await rm(dir, { recursive: true, force: true });
  }
}, 30_000);
