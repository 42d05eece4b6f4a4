import { expect, test } from 'vitest';
import { eventually } from '../operation/fixture.ts';
import type { Client } from '../support/client.ts';
import { ADMIN_PASSWORD, logIn, newFolder, startProcess } from '../support/service-process.ts';

const PATH = '/jobs/nightly-shop-report';
const TEMPLATE = '/templates/sales-report';
const APP = '/apps/order-inbox';

/** Expects the documents of the template of the demo, whose files have no mistakes. */
async function expectReport(admin: Client): Promise<void> {
  expect((await admin.post(`${TEMPLATE}/_check`)).body).toEqual({ ok: true, problems: [] });
  const render = (body: object) => admin.post(`${TEMPLATE}/_render`, body);
  const html = await render({ handler: 'html', params: { country: 'France' } });
  expect(html.status).toBe(200);
  expect(html.body).toMatch(/<h1>Sales in France<\/h1>/);
  expect(html.body).toMatch(/<svg [^]*Germany/);
  expect(html.body).toMatch(/<td>(Paris|Orléans|Saint-Étienne)<\/td>/);
  expect(html.body).not.toMatch(/<td>Berlin<\/td>/);
  const files = (await admin.get(`${TEMPLATE}/files`)).body._embedded['svc:template-file'];
  const { id: templateFileId } = files.find(({ filename }: { filename: string }) => filename === 'report.csv.njk');
  const csv = await render({ handler: 'csv', templateFileId });
  expect(csv.body).toMatch(/^id,ordered_at,customer,city,channel,status,total\n\d+,\d{4}-/);
  const pdf = await render({});
  expect(pdf.headers.get('content-type')).toBe('application/pdf');
  const rendition = await admin.get(pdf.headers.get('location')!.slice('/api'.length));
  expect(rendition.body.pages).toBeGreaterThan(2);
}

/** Expects that the app of the demo is deployed, and that its route and its dataset return its example. */
async function expectInbox(admin: Client): Promise<void> {
  expect((await admin.get(APP)).body).toMatchObject({ name: 'Order inbox', status: 'deployed', ownerId: admin.id });
  expect((await admin.get(`${APP}/view/orders/shipped`)).body).toEqual([
    { id: 'EXAMPLE-1', customer: 'Example customer', total: 39.9, items: 1, receivedAt: expect.stringMatching(/Z$/) },
  ]);
  expect((await admin.get('/datasets/received-orders')).body).toMatchObject({ records: 1 });
  const { routes, stats } = (await admin.get(`${APP}/webhooks`)).body;
  expect(routes).toMatchObject([{ method: 'post', path: '/orders', handlerPath: 'webhooks/orders.ts' }]);
  expect(stats).toEqual([]);
}

const DAY_MS = 86_400_000;

/** Expects the assistant of the demo, and usage in round figures that add up, none of it on the day of its creation. */
async function expectUsage(admin: Client, createdAt: number): Promise<void> {
  const daysAgo = (days: number) => new Date(createdAt - days * DAY_MS).toISOString().slice(0, 10);
  const assistant = (await admin.get('/assistants/shop-assistant')).body;
  expect(assistant).toMatchObject({
    icon: 'store',
    events: [{ name: 'order.received' }],
    eventApps: [{ owner: { id: admin.id } }],
  });
  const { data } = await admin.gql('{ assistant(id: "shop-assistant") { toolkits { slug } datasets { slug } } }');
  expect(data).toEqual({ assistant: { toolkits: [{ slug: 'shop-tools' }], datasets: [{ slug: 'orders' }] } });

  const { usageSummary, dailyTotals } = (await admin.get(`/usage?startDate=${daysAgo(28)}&endDate=${daysAgo(1)}`)).body;
  expect(usageSummary.map((line: any) => [line.entityType, line.totalEvents, line.totalCredits])).toEqual([
    ['app', 4, 16],
    ['job', 28, 14],
    ['user', 3, 12],
    ['assistant', 2, 8],
    ['user', 1, 4],
  ]);
  expect(usageSummary[3].entityId).toBe(assistant.id);
  const sum = (lines: { totalCredits: number }[]) => lines.reduce((total, { totalCredits }) => total + totalCredits, 0);
  expect([sum(usageSummary), sum(dailyTotals)]).toEqual([54, 54]);
}

test(
  'the demo has a nightly job with a first run, a template, an app, an assistant and usage, which later starts leave alone',
  { timeout: 180_000 },
  async () => {
    const folder = newFolder();
    const onService = async (isReady: RegExp, work: (admin: Client) => Promise<void>) => {
      const service = await startProcess({ DATA_DIR: folder.path, SEED_DEMO: 'true', ADMIN_PASSWORD });
      await eventually(async () => isReady.test(service.printed()));
      expect(service.printed()).not.toMatch(/failed/);
      await work(await logIn(service.url));
      expect(await service.end('SIGTERM')).toBe(0);
      return service.printed();
    };
    const embedded = async (admin: Client, path: string) =>
      Object.values((await admin.get(path)).body._embedded)[0] as any[];

    const createdAt = Date.now();
    const first = await onService(/The demo is ready|demo failed/, async (admin) => {
      const job = (await admin.get(PATH)).body;
      expect(job).toMatchObject({ name: 'Nightly shop report', ownerId: admin.id, enabled: true, lockedAt: null });
      expect(job.nextRunAt).toMatch(/T02:30:00\.000Z$/);
      expect(new Date(job.nextRunAt).getTime()).toBeGreaterThan(Date.now());
      // Otherwise the schedule could add a run at this time.
      expect((await admin.put(PATH, { enabled: false })).status).toBe(200);

      const actions = await embedded(admin, `${PATH}/actions`);
      expect(actions.map(({ type }) => type)).toEqual(['refresh', 'snapshot', 'snapshot-cleanup', 'export', 'email']);
      const runs = await embedded(admin, `${PATH}/history`);
      expect(runs).toMatchObject([{ trigger: 'schedule', status: 'succeeded', error: null }]);
      expect(runs[0].history.map(({ task }: any) => task.key)).toEqual(actions.map(({ id }) => `action:${id}`));
      expect(await embedded(admin, '/datasets/orders/snapshot-list')).toHaveLength(1);

      // Nothing delivers the mail, which is in the outbox with the file of the export.
      const { body: csv } = await admin.get(`${PATH}/actions/${actions[3].id}/action-file-contents`);
      expect(csv).toMatch(/^id,ordered_at,status,[^\n]*\n/);
      expect(
        new Set(
          csv
            .trim()
            .split('\n')
            .slice(1)
            .map((line: string) => line.split(',')[2]),
        ),
      ).toEqual(new Set(['returned']));
      expect(await embedded(admin, '/outbox')).toMatchObject([
        {
          to: 'admin@shop.example',
          subject: 'Returned orders',
          status: 'queued',
          attachments: [{ filename: 'returned orders.csv', size: Buffer.byteLength(csv) }],
        },
      ]);
      for (const { id } of actions)
        expect(await admin.post(`${PATH}/actions/${id}/_preview`)).toMatchObject({ status: 200 });
      expect((await admin.delete(`${PATH}/actions/${actions[4].id}`)).status).toBe(204);
      await expectReport(admin);
      await expectInbox(admin);
      await expectUsage(admin, createdAt);
    });
    expect(first).toMatch(/Creating the demo/);

    // A start prints that it creates the demo before it does so. It ends only after that.
    const printed = await onService(/Data Workspace Service at/, async (admin) => {
      expect(await embedded(admin, `${PATH}/actions`)).toHaveLength(4);
      expect(await embedded(admin, `${PATH}/history`)).toHaveLength(1);
      await expectUsage(admin, createdAt);
    });
    expect(printed).not.toMatch(/Creating the demo/);
    folder.remove();
  },
);
