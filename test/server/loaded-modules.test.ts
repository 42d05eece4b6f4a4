import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { builtMain } from '../support/built-service.ts';
import { createDatabase } from '../support/postgres.ts';
import { newFolder, startProcess } from '../support/service-process.ts';

/** Prints the URL of each module that a process loads. */
const PRINT_MODULES =
  'import{registerHooks}from"node:module";' +
  'registerHooks({load(url,context,next){process.stderr.write(`LOADED:${url}\\n`);return next(url,context)}})';
const PRINTING = `--import=data:text/javascript,${encodeURIComponent(PRINT_MODULES)}`;

/** Returns the modules that a process has printed, e.g. `src/server/serve.js`. */
const modulesIn = (printed: string): string[] =>
  [...printed.matchAll(/^LOADED:(\S+)/gm)].map(([, url]) => url!.replace(/^.*\/(?:dist[-\d]*|node_modules)\//, ''));

/** Starts the service on a migrated database and returns the modules that it loads. */
async function loadedModules(variables: Record<string, string>): Promise<string[]> {
  const database = await createDatabase();
  const folder = newFolder();
  try {
    const service = await startProcess({
      DATABASE_URL: database.url,
      DATA_DIR: folder.path,
      APP_SECRET: 'a secret of the tests with enough characters',
      NODE_OPTIONS: PRINTING,
      ...variables,
    });
    await service.end('SIGTERM');
    return modulesIn(service.printed());
  } finally {
    await database.drop();
    folder.remove();
  }
}

/**
 * Modules that are needed only for other commands, missing migrations, `SMTP_URL`, calls of other hosts, MCP servers,
 * the demo and uploaded pictures.
 */
const UNUSED_PACKAGES = /^(nodemailer|undici|openid-client|@modelcontextprotocol|tar-stream|sharp|saxes)/;
const UNUSED_FILES = /^src\/(migrations|server\/(run-migrations|demo|cli\/(doctor|operator|schema|stdio|toolkit)))/;
const isUnused = (name: string): boolean => UNUSED_PACKAGES.test(name) || UNUSED_FILES.test(name);
const OF_WORKERS = /^src\/(operations|server\/worker)/;
const OF_WEB = /^(resolvers|rest-bridge\/routes|src\/server\/(http|graphql|pages))/;

test('a process with both roles loads no mail, migrations, backups, pictures and other commands', async () => {
  const modules = await loadedModules({ ROLE: 'all' });
  expect(modules).toContain('src/server/http.js');
  expect(modules).toContain('src/server/worker.js');
  expect(modules.filter(isUnused)).toEqual([]);
});

test('a process with the role web loads nothing of workers', async () => {
  const modules = await loadedModules({ ROLE: 'web' });
  expect(modules).toContain('src/server/http.js');
  expect(modules.filter((name) => OF_WORKERS.test(name))).toEqual([]);
});

test('a process with the role worker loads no resolvers, routes and pages', async () => {
  const modules = await loadedModules({ ROLE: 'worker' });
  expect(modules).toContain('src/server/worker.js');
  expect(modules.filter((name) => OF_WEB.test(name))).toEqual([]);
});

test('a loader, which each refresh starts, loads no metrics, tracing, resolvers and routes', () => {
  const program = join(dirname(builtMain()), '../operations/loader.js');
  // It ends after its start, as it has no parent.
  const modules = modulesIn(spawnSync(process.execPath, [PRINTING, program], { encoding: 'utf8' }).stderr);
  expect(modules).toContain('src/operations/parent-source.js');
  expect(modules.filter((name) => /^(prom-client|@opentelemetry)/.test(name) || OF_WEB.test(name))).toEqual([]);
});
