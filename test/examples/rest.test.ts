import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { childEnvironment } from '../../src/core/process-environment.ts';
import { test } from './example-shop.ts';

/* examples/rest: the types are generated, the program is checked with them and run against a service. */

const run = promisify(execFile);
const inExamples = { cwd: 'examples' };

test('the types of the OpenAPI document fit the program, and the program prints what the service has', async ({
  service,
  ann,
  shop,
}) => {
  await run('npm', ['run', '--silent', 'rest:types'], inExamples);
  const { stdout: problems } = await run('npm', ['run', '--silent', 'rest:check'], inExamples).catch(
    (error: unknown) => error as { stdout: string },
  );
  expect(problems).toBe('');
  const { stdout } = await run(process.execPath, ['rest/order-lines.ts'], {
    ...inExamples,
    env: {
      ...childEnvironment(),
      DWS_URL: service.url,
      DWS_TOKEN: ann.headers['authorization']!.replace('Bearer ', ''),
      DWS_DATASOURCE: shop.id,
    },
  });
  expect(stdout.trimEnd().split('\n')).toEqual([
    'dataset order-lines',
    'rows 6',
    'refresh succeeded 5 rows',
    'largest [{"country":"France","amount":"400.25"},{"country":"France","amount":"200.25"}]',
    'error 400 BAD_USER_INPUT: Unknown field "contry". Did you mean "country"?',
  ]);
});

test('a call whose response was lost is repeated with its key, and has one effect', async ({ service, ann }) => {
  await run('npm', ['run', '--silent', 'rest:types'], inExamples);
  const { stdout } = await run(process.execPath, ['rest/idempotent-retries.ts'], {
    ...inExamples,
    env: {
      ...childEnvironment(),
      DWS_URL: service.url,
      DWS_TOKEN: ann.headers['authorization']!.replace('Bearer ', ''),
    },
  });
  expect(stdout.trimEnd().split('\n')).toEqual([
    'created Quarterly in 2 attempts; tags of this name: 1',
    'repeated 201 true',
    'reused 422 IDEMPOTENCY_KEY_REUSED',
  ]);
});

test('without a token the program says which variable is missing', async () => {
  const { stderr } = await run(process.execPath, ['rest/order-lines.ts'], {
    ...inExamples,
    env: { ...childEnvironment(), DWS_TOKEN: '' },
  }).catch((error: unknown) => error as { stderr: string });
  expect(stderr.trim()).toBe('Set DWS_TOKEN to an API token, as README.md shows');
});
