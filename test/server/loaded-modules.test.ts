import { expect, test } from 'vitest';
import { createDatabase } from '../support/postgres.ts';
import { newFolder, startProcess } from '../support/service-process.ts';

/** Prints the URL of each module that a process loads. */
const PRINT_MODULES =
  'import{registerHooks}from"node:module";' +
  'registerHooks({load(url,context,next){process.stderr.write(`LOADED:${url}\\n`);return next(url,context)}})';

/** Starts the service on a migrated database and returns the modules that it loads, e.g. `src/server/serve.js`. */
async function loadedModules(variables: Record<string, string>): Promise<string[]> {
  const database = await createDatabase();
  const folder = newFolder();
  try {
    const service = await startProcess({
      DATABASE_URL: database.url,
      DATA_DIR: folder.path,
      APP_SECRET: 'a secret of the tests with enough characters',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(PRINT_MODULES)}`,
      ...variables,
    });
    await service.end('SIGTERM');
    const urls = [...service.printed().matchAll(/^LOADED:(\S+)/gm)].map(([, url]) => url!);
    return urls.map((url) => url.replace(/^.*\/(?:dist[-\d]*|node_modules)\//, ''));
  } finally {
    await database.drop();
    folder.remove();
  }
}

/** What only other commands, missing migrations, `SMTP_URL`, calls of other hosts, the demo and uploaded pictures need. */
const UNUSED =
  /^(nodemailer|undici|openid-client|@modelcontextprotocol|tar-stream|sharp|saxes|src\/(migrations|server\/(run-migrations|demo|cli\/(doctor|operator|schema|stdio|toolkit))))/;
const OF_WORKERS = /^src\/(operations|server\/worker)/;
const OF_WEB = /^(resolvers|rest-bridge\/routes|src\/server\/(http|graphql|pages))/;

test('a process with both roles loads no mail, migrations, backups, pictures and other commands', async () => {
  const modules = await loadedModules({ ROLE: 'all' });
  expect(modules).toContain('src/server/http.js');
  expect(modules).toContain('src/server/worker.js');
  expect(modules.filter((name) => UNUSED.test(name))).toEqual([]);
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
