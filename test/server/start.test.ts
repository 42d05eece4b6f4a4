import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test as base } from 'vitest';
import { HAS_SMALL_DISKS } from '../support/engine-presence.ts';
import { createDatabase } from '../support/postgres.ts';
import { newFolder, runProcess } from '../support/service-process.ts';
import { mountDisk } from '../support/small-disk.ts';

const test = base.extend<{ folder: string }>({
  folder: async ({}, use) => {
    const { path, remove } = newFolder();
    await use(path);
    remove();
  },
});

/** Expects a start to end with exit code 1 and this sentence, and not to create `DATA_DIR`. */
async function expectFailure(folder: string, variables: Record<string, string>, sentence: string): Promise<void> {
  const DATA_DIR = join(folder, 'data');
  expect(await runProcess({ DATA_DIR, ...variables })).toEqual({ code: 1, printed: `${sentence}\n` });
  expect(readdirSync(folder)).toEqual([]);
}

describe('a start that cannot succeed prints one sentence, and leaves nothing', () => {
  test('for a malformed variable', async ({ folder }) => {
    await expectFailure(folder, { APP_SECRET: 'short' }, 'APP_SECRET must have at least 32 characters');
    await expectFailure(folder, { PORT: 'soon' }, 'PORT must be a whole number from 0 to 65535');
  });

  test('for a port in use, with the embedded Postgres and with another one', async ({ folder }) => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const sentence = `Port ${port} is in use: set PORT`;
    await expectFailure(folder, { PORT: String(port) }, sentence);
    const database = await createDatabase();
    await expectFailure(folder, { PORT: String(port), DATABASE_URL: database.url }, sentence);
    await database.drop();
    other.close();
  });

  test('for an address of another machine', async ({ folder }) => {
    await expectFailure(folder, { HOST: '192.0.2.1' }, 'HOST 192.0.2.1 is not an address of this machine');
  });

  test('for a database that does not respond or refuses the login', async ({ folder }) => {
    await expectFailure(
      folder,
      { DATABASE_URL: 'postgres://me:secret@127.0.0.1:9/dws' },
      'DATABASE_URL does not respond: connect ECONNREFUSED 127.0.0.1:9',
    );
    const database = await createDatabase();
    await expectFailure(
      folder,
      { DATABASE_URL: database.url.replace(/:[^:@]+@/, ':wrong@') },
      'DATABASE_URL cannot be used: password authentication failed for user "postgres"',
    );
    await database.drop();
  });

  test('for a DATA_DIR that is a file', async ({ folder }) => {
    const DATA_DIR = join(folder, 'file');
    writeFileSync(DATA_DIR, '');
    expect(await runProcess({ DATA_DIR })).toEqual({
      code: 1,
      printed: `DATA_DIR ${DATA_DIR} is not a folder: choose another one\n`,
    });
  });

  test.skipIf(!HAS_SMALL_DISKS)('for a DATA_DIR on a read-only file system', async () => {
    const disk = mountDisk(20);
    try {
      const DATA_DIR = join(disk.path, 'data');
      mkdirSync(DATA_DIR);
      disk.readOnly();
      const sentence = `DATA_DIR ${DATA_DIR} is on a read-only file system: choose another one\n`;
      expect(await runProcess({ DATA_DIR })).toEqual({ code: 1, printed: sentence });
      const missing = join(disk.path, 'missing');
      const ofMissing = `DATA_DIR ${missing} is on a read-only file system: choose another one\n`;
      expect(await runProcess({ DATA_DIR: missing })).toEqual({ code: 1, printed: ofMissing });
      expect(existsSync(missing)).toBe(false);
    } finally {
      disk.unmount();
    }
  });

  test.skipIf(process.getuid!() === 0)('for a DATA_DIR without permission to write', async ({ folder }) => {
    const DATA_DIR = join(folder, 'data');
    mkdirSync(DATA_DIR);
    chmodSync(DATA_DIR, 0o500);
    const printed = `DATA_DIR ${DATA_DIR} is not writable for this user: choose another one\n`;
    expect(await runProcess({ DATA_DIR })).toEqual({ code: 1, printed });
    expect(await runProcess({ DATA_DIR: '/root-of-others' })).toEqual({
      code: 1,
      printed: 'DATA_DIR /root-of-others is not writable for this user: choose another one\n',
    });
  });
});
