import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test as base } from 'vitest';
import { openDataDir, protectDataDir, wrongModes } from '../../src/server/data-dir.ts';
import { Client } from '../support/client.ts';
import { ADMIN_PASSWORD, byToken, logIn, newFolder, startProcess } from '../support/service-process.ts';
import { createForm, DATASETS, ORDERS } from '../support/upload-form.ts';

const test = base.extend<{ folder: string }>({
  folder: async ({}, use) => {
    const { path, remove } = newFolder();
    await use(path);
    remove();
  },
});

const IS_ROOT = process.getuid!() === 0;
const modeOf = (path: string) => lstatSync(path).mode & 0o777;

/** Returns the modes of all files and folders below a folder, except the cluster and Postgres' programs. */
function modesBelow(folder: string): Record<string, number> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !/^postgres(-[\d.]+)?(\/|$)/.test(path));
  return Object.fromEntries(paths.map((path) => [path, modeOf(join(folder, path))]));
}

/** Creates the folder of an installation by a version that let other users read. */
function createOldInstallation(folder: string): void {
  chmodSync(folder, 0o755);
  for (const name of ['datasets', 'datasets/one', 'files', 'mine']) {
    mkdirSync(join(folder, name));
    chmodSync(join(folder, name), 0o755);
  }
  for (const name of ['datasets/one/rows.duckdb', 'files/upload', 'secret', 'mine/notes.txt']) {
    writeFileSync(join(folder, name), 'x');
    chmodSync(join(folder, name), 0o644);
  }
  symlinkSync('/etc/hostname', join(folder, 'datasets/link'));
}

test('an existing folder and all that the service stored in it are closed to other users, and nothing else', ({
  folder,
}) => {
  createOldInstallation(folder);
  const hostname = modeOf('/etc/hostname');
  expect([...wrongModes(folder, false)].map(({ path }) => path.slice(folder.length))).toEqual([
    '/datasets/one/rows.duckdb',
    '/datasets/one',
    '/datasets',
    '/files/upload',
    '/files',
    '/secret',
    '',
  ]);
  protectDataDir(openDataDir(folder, false), false);
  expect(modeOf(folder)).toBe(0o700);
  expect(modesBelow(folder)).toEqual({
    datasets: 0o700,
    'datasets/one': 0o700,
    'datasets/one/rows.duckdb': 0o600,
    files: 0o700,
    'files/upload': 0o600,
    mine: 0o755,
    'mine/notes.txt': 0o644,
    secret: 0o600,
  });
  expect(modeOf('/etc/hostname')).toBe(hostname);
  expect([...wrongModes(folder, false)]).toEqual([]);
});

test('a missing folder is created with its parents, and its mode lets Postgres pass only where another user runs it', ({
  folder,
}) => {
  const passable = IS_ROOT ? 0o711 : 0o700;
  for (const [name, startsPostgres, mode] of [
    ['a', true, passable],
    ['b', false, 0o700],
  ] as const) {
    const path = openDataDir(join(folder, name, 'deep', 'data'), startsPostgres);
    protectDataDir(path, startsPostgres);
    expect([modeOf(path), modeOf(join(folder, name))]).toEqual([mode, mode]);
  }
});

test('folders that cannot be used are errors of one sentence, and shared ones keep their mode', ({ folder }) => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(() => openDataDir(file, false)).toThrow(`DATA_DIR ${file} is not a folder: choose another one`);
  expect(() => openDataDir(join(file, 'below'), false)).toThrow('is not a folder: choose another one');
  expect(() => openDataDir('/proc/1/data', false)).toThrow(/^DATA_DIR \/proc\/1\/data cannot be created: choose/);
  expect(() => openDataDir('/tmp', false)).toThrow('DATA_DIR /tmp is shared with other programs');
});

test('the running service creates nothing that other users can read', async ({ folder }) => {
  createOldInstallation(folder);
  const service = await startProcess({ DATA_DIR: folder, ADMIN_PASSWORD });
  try {
    const admin = await byToken(await logIn(service.url));
    const { id } = await admin.creates(DATASETS, createForm(ORDERS));
    expect((await admin.get(`/datasets/${id}/data?q=eu`)).body.total).toBe(1);
    await admin.creates(`/datasets/${id}/_refresh`, {});
    await admin.creates(`/datasets/${id}/snapshots`, { name: 'Then' });

    const modes = modesBelow(folder);
    expect(Object.keys(modes)).toEqual(
      expect.arrayContaining(['secret', 'postgres.json', 'postgres.log', expect.stringMatching(/rows\.duckdb$/)]),
    );
    const open = Object.entries(modes).filter(([path, mode]) => mode & 0o077 && !path.startsWith('mine'));
    expect(open).toEqual([]);
    expect(modeOf(folder)).toBe(IS_ROOT ? 0o711 : 0o700);
    expect(modeOf(join(folder, 'postgres'))).toBe(0o700);
    if (!IS_ROOT) return;
    const stranger = spawnSync('/bin/sh', ['-c', 'ls "$0"/datasets; cat "$0"/secret "$0"/files/*', folder], {
      uid: 65_533,
      gid: 65_533,
      encoding: 'utf8',
    });
    expect(stranger.stdout).toBe('');
    // Postgres can still be restarted by its own user.
    expect(existsSync(join(folder, 'postgres', 'postmaster.pid'))).toBe(true);
  } finally {
    await service.end('SIGTERM');
  }
  const restarted = await startProcess({ DATA_DIR: folder });
  expect((await new Client(restarted.url).request('GET', '/readyz')).status).toBe(200);
  await restarted.end('SIGTERM');
});
