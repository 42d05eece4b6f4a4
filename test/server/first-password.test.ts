import { describe, expect, test } from 'vitest';
import { SystemPool } from '../../src/adapters/database/system-pool.ts';
import { createSecretBox } from '../../src/adapters/secrets/secret-box.ts';
import { bootstrap, forgetFirstPassword } from '../../src/services/identity/bootstrap.ts';
import { resetPassword } from '../../src/services/identity/operator.ts';
import { checkKeyRing } from '../../src/services/secrets/sealed-values.ts';
import { Client } from '../support/client.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { newFolder, startProcess } from '../support/service-process.ts';

const APP_SECRET = 'a secret for tests of enough characters';
const SECRETS = createSecretBox(APP_SECRET);
const ADMIN = { username: 'admin' };

/** Runs `work` on a database before its first start. */
async function onNewDatabase(work: (system: SystemPool, database: TestDatabase) => Promise<void>): Promise<void> {
  const database = await createDatabase();
  const system = new SystemPool(database.url);
  try {
    await work(system, database);
  } finally {
    await system.close();
    await database.drop();
  }
}

/** Returns the username and password that a start printed, null if it printed none. */
const printedLogin = (text: string): { username: string; password: string } | null => {
  const [, username, password] = /Username (\S+) {3}Password (\S+) {3}\(shown this once\)/.exec(text) ?? [];
  return username && password ? { username, password } : null;
};

describe('the generated first password', () => {
  test('is the same at every start until it was shown, and is stored sealed until then', () =>
    onNewDatabase(async (system) => {
      const first = await bootstrap(system, SECRETS, ADMIN);
      expect(first).toEqual({ username: 'admin', password: expect.stringMatching(/^[\w-]{20}$/) });
      expect(await bootstrap(system, SECRETS, { username: 'other' })).toEqual(first);
      const settings = await system.query<{ name: string; value: string }>({ text: 'select * from dws.setting' });
      expect(settings.map(({ name }) => name)).toEqual(['unshown_password']);
      expect(settings[0]!.value).not.toContain(first!.password);
      await forgetFirstPassword(system);
      expect(await system.query({ text: 'select * from dws.setting' })).toEqual([]);
      expect(await bootstrap(system, SECRETS, ADMIN)).toBeNull();
    }));

  test('is not shown once an operator has set another, nor when ADMIN_PASSWORD is set', () =>
    onNewDatabase(async (system) => {
      await bootstrap(system, SECRETS, ADMIN);
      await resetPassword(system, 'default', 'admin');
      expect(await bootstrap(system, SECRETS, ADMIN)).toBeNull();
      await system.query({ text: 'delete from dws.app_user' });
      const again = await bootstrap(system, SECRETS, ADMIN);
      expect(again, 'of a new user').toEqual({ username: 'admin', password: expect.stringMatching(/^[\w-]{20}$/) });
      await system.query({ text: 'delete from dws.app_user' });
      await forgetFirstPassword(system);
      expect(await bootstrap(system, SECRETS, { ...ADMIN, password: 'correct horse battery' })).toBeNull();
      expect(await bootstrap(system, SECRETS, ADMIN)).toBeNull();
    }));

  test('of two processes that start concurrently is one password', () =>
    onNewDatabase(async (system) => {
      const [one, two] = await Promise.all([bootstrap(system, SECRETS, ADMIN), bootstrap(system, SECRETS, ADMIN)]);
      expect(one).not.toBeNull();
      expect(two).toEqual(one);
      const users = await system.query<{ username: string }>({ text: 'select username from dws.app_user' });
      expect(users).toEqual([{ username: 'admin' }]);
    }));

  test('is printed by the start after one that ended before it listened, and logs in', () =>
    onNewDatabase(async (system, database) => {
      // A start that ends here has created the user and printed nothing.
      await checkKeyRing((statement) => system.query(statement), SECRETS);
      const login = await bootstrap(system, SECRETS, ADMIN);
      const { path, remove } = newFolder();
      const variables = { DATABASE_URL: database.url, DATA_DIR: path, APP_SECRET };
      const next = await startProcess(variables);
      expect(printedLogin(next.printed())).toEqual(login);
      expect((await new Client(next.url).post('/login', login!)).status).toBe(200);
      expect(await next.end('SIGTERM')).toBe(0);
      const last = await startProcess(variables);
      expect(printedLogin(last.printed())).toBeNull();
      expect(await last.end('SIGTERM')).toBe(0);
      remove();
    }));
});
