/**
 * Measures syncs of a library with a fake of Google Drive:
 * `npm run build && node bench/library.ts [files=100000] [bytes=1000] [large=1000000000] [dist=dist]`. Prints Markdown. One
 * `web` and one `worker`. `large` is the size of one more file.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { createSecretBox } from '../src/adapters/secrets/secret-box.ts';
import { startDriveFake } from '../tools/drive-fake.ts';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { cpuOf, ownMemoryOf } from './processes.ts';
import { runSql, withService, type ResponseBody, type Service } from './service.ts';

const { files, bytes, large, dist } = readOptions({
  files: '100000',
  bytes: '1000',
  large: '1000000000',
  dist: 'dist',
});
const SYNC = `mutation ($id: ID!, $full: Boolean) { syncLibrary(id: $id, full: $full, wait: false) { operation { id } } }`;
const POLL_MS = 200;

/** Syncs and returns the result. A sync takes longer than a request may wait for its response. */
async function waitFor(call: Service['call'], id: string, flags: object): Promise<ResponseBody> {
  const { data } = await call('POST', '/graphql', { query: SYNC, variables: { id, ...flags } });
  for (;;) {
    const { status, result, error } = await call('GET', `/api/progress/${String(data.syncLibrary.operation.id)}`);
    if (status === 'succeeded') return result as ResponseBody;
    if (status === 'failed') throw new Error(String(error.message));
    await setTimeout(POLL_MS);
  }
}

const fake = await startDriveFake('google-drive');
fake.pageSize = 1000;

const env = { OUTBOUND_ALLOW: '127.0.0.1' };
await withService({ roles: ['web', 'worker'], dist, env }, async ({ databaseUrl, env: variables, pids, call }) => {
  const [, worker] = pids as [number, number];
  const { authUri, tokenUri, apiUri } = fake.addresses;
  const integration = { name: 'Drive', type: 'google-drive', clientId: 'bench', authUri, tokenUri, apiUri };
  const { id: integrationId } = await call('POST', '/api/integrations', integration);
  const settings = { maxFileBytes: 5_000_000_000 };
  const { id } = await call('POST', '/api/libraries', { name: 'Files', integrationId, settings });
  const tokens = { accessToken: fake.authority.issueToken(), refreshToken: null, expiresAt: null };
  const sealed = createSecretBox(variables['APP_SECRET']!).seal(JSON.stringify(tokens));
  await runSql(
    databaseUrl,
    `insert into dws.connection (id, tenant_id, library_id, integration_id, owner_id, status, sealed_tokens,
      last_authorized_at)
    select '${randomUUID()}', tenant_id, id, integration_id, substr(owner_id, 6)::uuid, 'connected', '${sealed}', now()
    from dws.library where id = '${String(id)}'`,
  );

  const lines: string[][] = [];
  const sync = async (what: string, expected: object, body: object = {}) => {
    const calls = { ...fake.calls };
    const cpu = cpuOf(worker);
    const began = performance.now();
    const result = await waitFor(call, String(id), body);
    const seconds = (performance.now() - began) / 1000;
    const callsOf = (kind: string) => String((fake.calls[kind] ?? 0) - (calls[kind] ?? 0));
    const memory = [ownMemoryOf(worker), ownMemoryOf(worker, 'VmHWM')].map((mib) => mib.toFixed(0));
    const listings = String(Number(callsOf('list')) + Number(callsOf('changes')));
    lines.push([what, seconds.toFixed(1), (cpuOf(worker) - cpu).toFixed(1), listings, callsOf('contents'), ...memory]);
    for (const [key, value] of Object.entries(expected))
      if (result[key] !== value) throw new Error(`${what}: ${key} is ${String(result[key])}, not ${String(value)}`);
  };

  await sync('empty drive', { syncedFiles: 0 });
  fake.tree.put('large.bin', { size: Number(large) });
  await sync(`one file of ${large} bytes`, { syncedFiles: 1, addedFiles: 1 });
  const all = Number(files) + 1;
  fake.tree.generate(Number(files), Number(bytes));
  await sync(`${files} new files`, { syncedFiles: all, addedFiles: Number(files) }, { full: true });
  await sync('unchanged', { syncedFiles: all, addedFiles: 0, updatedFiles: 0, deletedFiles: 0 });
  await sync('unchanged, full', { syncedFiles: all, addedFiles: 0, updatedFiles: 0, deletedFiles: 0 }, { full: true });
  fake.tree.move('folder-0', 'moved');
  await sync('1,000 files moved with their folder', { updatedFiles: Math.min(1000, Number(files)) });
  printTable(['sync', 'seconds', 'CPU of the worker s', 'listings', 'downloads', 'worker MiB', 'its peak'], lines);
});
await fake.close();
