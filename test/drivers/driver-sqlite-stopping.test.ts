import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { boundQuery, neverAborted } from '../support/postgres-source.ts';
import { rejectionOf, filesIn, isAlive, queryProcesses, waitUntil } from '../support/uploaded-source.ts';
import { useSqliteFiles } from './driver-sqlite-fixture.ts';

const { files, createFile, createEmptyFile } = useSqliteFiles();

/** The start of a query over endless rows `r(i)`. */
const ENDLESS = 'with recursive r(i) as (values (1) union all select i + 1 from r) select';

describe('a query that requires too much memory ends in a clear error', () => {
  test.each([
    ['select hex(zeroblob(1000000000))', /longer than 64 MiB/],
    ['select randomblob(1000000000)', /longer than 64 MiB/],
    [`select printf('%.*c', 1000000000, 'x')`, /longer than 64 MiB/],
    [`select group_concat(hex(zeroblob(1000000))) from (${ENDLESS} i from r limit 1000)`, /longer than 64 MiB/],
    [`${ENDLESS} randomblob(10000) as b from r order by b`, /more memory than/],
  ])('%s', async (text, message) => {
    await expect(createEmptyFile().query(text)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(message) as string,
    });
    await waitUntil(() => queryProcesses().length === 0);
  });
});

describe('stopping', () => {
  const SILENT_QUERY = `${ENDLESS} count(*) from r`;
  const ROWS_QUERY = `${ENDLESS} i, hex(zeroblob(100)) from r limit 30000000`;

  test.each([
    ['query', SILENT_QUERY],
    ['load', SILENT_QUERY],
    ['load', ROWS_QUERY],
  ])('a %s past its timeout fails with a query timeout, and its process has ended', async (kind, text) => {
    const file = createEmptyFile();
    await expect(
      kind === 'query'
        ? file.connection.query(boundQuery(text, [], 700), 10, neverAborted)
        : file.load(boundQuery(text, [], 700)),
    ).rejects.toMatchObject({ status: 500, code: 'UPSTREAM_FAILED', message: 'query timeout after 700 ms' });
    expect(queryProcesses()).toEqual([]);
    expect(await filesIn(files.segments)).toEqual([]);
  });

  test('aborting ends the process before the call rejects', async () => {
    const stop = new AbortController();
    const outcome = rejectionOf(createEmptyFile().connection.query(boundQuery(SILENT_QUERY), 10, stop.signal));
    await waitUntil(() => queryProcesses().length === 1);
    stop.abort();
    expect(await outcome).toMatchObject({ status: 409, code: 'CANCELLED' });
    expect(queryProcesses()).toEqual([]);
  });

  test('a reader that stops early ends the process, and no file remains', async () => {
    const { file } = createFile('create table t (i, s)', (database) =>
      database.exec(
        `with recursive r(i) as (values (1) union all select i + 1 from r where i < 100000)
        insert into t select i, hex(zeroblob(300)) from r`,
      ),
    );
    for await (const segment of file.connection.segments(boundQuery('select * from t'), files.segments, neverAborted)) {
      await rm(segment.path);
      break;
    }
    expect(queryProcesses()).toEqual([]);
    expect(await filesIn(files.segments)).toEqual([]);
  });

  test('closing the connection ends what runs', async () => {
    const file = createEmptyFile();
    const outcome = rejectionOf(file.connection.query(boundQuery(SILENT_QUERY), 10, neverAborted));
    await waitUntil(() => queryProcesses().length === 1);
    await file.connection.close();
    expect(await outcome).toMatchObject({ code: 'CANCELLED' });
    expect(queryProcesses()).toEqual([]);
  });

  test('an aborted signal starts nothing', async () => {
    await expect(
      createEmptyFile().connection.query(boundQuery('select 1'), 10, AbortSignal.abort()),
    ).rejects.toMatchObject({
      code: 'CANCELLED',
    });
  });

  test('a process whose parent is killed ends, even in the middle of a statement', async () => {
    const { name } = createFile('create table t (i)');
    const driver = new URL('../../src/adapters/drivers/sqlite/sqlite-driver.ts', import.meta.url).href;
    const query = { text: SILENT_QUERY, parameters: [], timeout: 600_000 };
    const program = `import { sqliteDriver } from '${driver}';
      const connection = sqliteDriver.connect({}, {}, ${JSON.stringify(files.path(name))});
      void connection.query(${JSON.stringify(query)}, 1, new AbortController().signal);
      process.stdout.write('started');`;
    const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(parent.stdout, 'data');
    let child = 0;
    await waitUntil(() => (child = queryProcesses(parent.pid)[0] ?? 0) > 0);
    // Waits until the statement has begun.
    await new Promise((wake) => {
      setTimeout(wake, 500);
    });
    parent.kill('SIGKILL');
    await waitUntil(() => !isAlive(child));
    expect(isAlive(child)).toBe(false);
  });
});
