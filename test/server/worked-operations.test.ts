import { Kind, parse, validate, type OperationDefinitionNode } from 'graphql';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { checkLimits, parseLimited } from '../../src/core/limits/limits.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { WORKED_OPERATIONS } from '../../src/server/pages/worked-operations.ts';
import { eventually } from '../operation/fixture.ts';
import { launchBrowser, logIn as fillLogIn, openPage, takeScreenshot } from '../support/browser.ts';
import type { Client } from '../support/client.ts';
import { HAS_CHROMIUM } from '../support/engines.ts';
import {
  ADMIN_PASSWORD,
  byToken,
  logIn,
  newFolder,
  startProcess,
  type ServiceProcess,
} from '../support/service-process.ts';

const document = parse(WORKED_OPERATIONS);
const operations = document.definitions.filter(
  (definition): definition is OperationDefinitionNode => definition.kind === Kind.OPERATION_DEFINITION,
);

test('each worked operation has a name, a comment and a small cost, and is valid', async () => {
  const schema = await createSchema();
  expect(validate(schema, document)).toEqual([]);
  expect(operations.map(({ operation, name }) => `${operation} ${name?.value}`)).toEqual([
    'query Datasets',
    'query Rows',
    'mutation CreateDataset',
    'mutation Refresh',
    'subscription Progress',
    'mutation Share',
    'query Errors',
  ]);
  const limited = parseLimited(WORKED_OPERATIONS);
  for (const { loc, name } of operations) {
    expect(WORKED_OPERATIONS.slice(0, loc!.start), name!.value).toMatch(/\n\n# [A-Z].*(\n# .*)*[.?]\n$/);
    expect(checkLimits(limited, schema, {}, name!.value).cost, name!.value).toBeLessThan(1000);
  }
});

describe('on the demo', { timeout: 180_000 }, () => {
  const folder = newFolder();
  let service: ServiceProcess;
  let admin: Client;

  beforeAll(async () => {
    service = await startProcess({ DATA_DIR: folder.path, SEED_DEMO: 'true', ADMIN_PASSWORD });
    await eventually(async () => /The demo is ready|demo failed/.test(service.printed()));
    admin = await byToken(await logIn(service.url));
  }, 180_000);
  afterAll(async () => {
    await service?.end('SIGTERM');
    folder.remove();
  });

  const run = async (operationName: string) => {
    const { body } = await admin.request('POST', '/graphql', { query: WORKED_OPERATIONS, operationName });
    return body;
  };
  const follow = async (operationName: string): Promise<unknown[]> => {
    const socket = createClient({
      url: `${service.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: admin.headers,
    });
    const states: unknown[] = [];
    for await (const state of socket.iterate({ query: WORKED_OPERATIONS, operationName })) states.push(state);
    await socket.dispose();
    return states;
  };

  test('the queries return datasets, rows, figures and errors together with data', async () => {
    const { datasets } = (await run('Datasets')).data;
    expect(datasets).toMatchObject({ total: 4, hasNextPage: false });
    expect(datasets.items.map(({ name, records }: any) => [name, records > 0])).toEqual([
      ['Customers', true],
      ['Orders of the last year', true],
      ['Received orders', true],
      ['Sales by month', true],
    ]);

    const { dataset } = (await run('Rows')).data;
    const rows = dataset.data.items as { customer: string; country: string; total: number }[];
    expect(rows).toHaveLength(5);
    for (const row of rows) {
      expect(Object.keys(row)).toEqual(['customer', 'country', 'total']);
      expect(['France', 'Spain']).toContain(row.country);
    }
    const totals = rows.map(({ total }) => Number(total));
    expect(totals).toEqual(totals.toSorted((a, b) => b - a));
    expect(totals.at(-1)).toBeGreaterThan(100);
    expect(dataset.data).toMatchObject({
      total: expect.any(Number),
      next: expect.any(String),
      fields: [
        { name: 'customer', type: 'STRING' },
        { name: 'country', type: 'STRING' },
        { name: 'total', type: 'NUMBER' },
      ],
    });
    expect(dataset.aggregate.columns.map(({ name }: any) => name)).toEqual(['ordered_at', 'orders', 'turnover']);
    const { orders } = (await admin.data('{ orders: dataset(id: "orders") { records } }')) as any;
    const counts = (dataset.aggregate.rows as [string, number, number][]).map(([, count]) => count);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(orders.records);

    const { data, errors } = await run('Errors');
    expect(data).toEqual({ orders: { name: 'Orders of the last year' }, missing: null, invalid: null });
    const byPath = Object.fromEntries(errors.map(({ path, extensions }: any) => [path.join('.'), extensions]));
    expect(byPath).toMatchObject({
      missing: { code: 'NOT_FOUND' },
      'invalid.data': { code: 'BAD_USER_INPUT', validation: [{ path: ['limit'] }] },
    });
    expect(errors).toHaveLength(2);
  });

  test('the others create, refresh and share a dataset', async () => {
    const created = await run('CreateDataset');
    expect(created.data).toMatchObject({ createDataset: { query: expect.stringContaining('{{minimum}}') } });
    expect((await run('CreateDataset')).errors).toMatchObject([{ extensions: { code: 'CONFLICT' } }]);

    expect((await run('Refresh')).data.refreshDataset.operation.status).toMatch(/QUEUED|RUNNING/);
    const states = await follow('Progress');
    const { records } = (await admin.data('{ dataset(id: "large-orders") { records } }')).dataset;
    expect(records).toBeGreaterThan(0);
    expect(states.at(-1)).toEqual({
      data: { progress: { status: 'SUCCEEDED', current: records, percent: 100, message: null, error: null } },
    });

    expect((await run('Share')).data).toEqual({
      shareDataset: { accessLevel: 'VIEW', principal: { name: 'admin', type: 'USER' } },
    });
  });

  test.skipIf(!HAS_CHROMIUM)('GraphiQL shows them, and runs the one that is chosen after a login', async () => {
    const browser = await launchBrowser();
    const { page, problems } = await openPage(browser, service.url);
    await fillLogIn(page, service.url, 'admin', ADMIN_PASSWORD);
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    await page.goto(`${service.url}/graphiql`);
    const editor = page.locator('.graphiql-query-editor .view-lines');
    await expect
      .poll(async () => (await editor.innerText()).replaceAll('\u00a0', ' '))
      .toContain('# Worked operations on the demo');
    await page.getByRole('button', { name: /execute/i }).click();
    expect(await page.getByRole('menuitem').allInnerTexts()).toEqual(operations.map(({ name }) => name!.value));
    await page.getByRole('menuitem', { name: 'Datasets' }).click();
    const result = () => page.locator('.result-window').innerText();
    await expect.poll(result).toMatch(/"Orders\sof\sthe\slast\syear"/);
    await takeScreenshot(page, 'graphiql-worked');
    expect(problems).toEqual([]);
    await browser.close();
  });
});
