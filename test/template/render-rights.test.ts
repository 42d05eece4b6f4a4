import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { textOfPdf } from '../support/pdf-text.ts';
import { createRenderable, expectStatus, render, test, type TestTemplate } from './render-fixture.ts';

const ROWS =
  '{% for row in orders.rows %}{{ row.id }}={{ row.region }}={{ row.amount }};{% endfor %} of {{ orders.total }}';

/** Creates a template of ann's that lists the orders, and that bob may render. */
async function createOrderList(ann: Client, bob: Client, datasetId: string, input: object = {}): Promise<TestTemplate> {
  const template = await createRenderable(
    ann,
    {
      files: { 'orders.njk': ROWS },
      inputs: [{ name: 'least', schema: { type: 'number' }, defaultValue: 0 }],
      processors: [
        {
          name: 'orders',
          type: 'dataset',
          config: { datasetId, filter: { id: { $gte: { $input: 'least' } } }, sort: 'id' },
        },
      ],
    },
    input,
  );
  await expectStatus(ann.put(`${template.path}/shares/${bob.id}`, { accessLevel: 1 }), 200);
  return template;
}

test('a document has the rows and fields that its reader sees, as text and as PDF', async ({
  ann,
  bob,
  orders,
  restrictBob,
}) => {
  await restrictBob({ region: 'EU' });
  const { path } = await createOrderList(ann, bob, orders.id);
  const all = (await render(ann, path, { handler: 'text', params: { least: 17 } })).text;
  expect(all).toBe('17=US=170;18=APAC=180;19==190;20=EU=200; of 4');
  const own = (await render(bob, path, { handler: 'text' })).text;
  expect(own).toBe('4=EU=;8=EU=;12=EU=;16=EU=;20=EU=; of 5');

  const pages = await textOfPdf((await render(bob, path, { handler: 'pdf' })).bytes);
  expect(pages.join('').replaceAll('\n', '')).toBe(own);
  const full = await textOfPdf((await render(ann, path, { handler: 'pdf', params: { least: 17 } })).bytes);
  expect(full.join('').replaceAll('\n', '')).toBe(all);
});

test('data that the caller may not read is 404, for the caller alone', async ({ ann, admin, service, orders }) => {
  const eve = await service.user('eve');
  const { path } = await createOrderList(ann, eve, orders.id);
  const { status, error } = await render(eve, path);
  expect({ status, message: error.message }).toEqual({
    status: 404,
    message: `processors.orders: There is no dataset ${orders.id}`,
  });
  expect(JSON.stringify(error)).not.toMatch(/Orders|region/);
  expect((await render(admin, path, { handler: 'text', params: { least: 20 } })).text).toBe('20=EU=200; of 1');
});

test('a preview reads 20 rows with each processor, and its rendition expires after an hour', async ({
  ann,
  bob,
  shop,
  source,
}) => {
  await shop.sql(`create table many as select n as id from generate_series(1, 50) n`);
  const { id: datasetId } = await ann.creates('/datasets', {
    name: 'Many',
    datasourceId: source.id,
    query: 'select id from many order by id',
    refresh: true,
  });
  const { path } = await createRenderable(
    ann,
    {
      files: { 'many.njk': '{{ many.rows | length }} of {{ many.total }}' },
      processors: [{ name: 'many', type: 'dataset', config: { datasetId } }],
    },
    { handler: 'text' },
  );
  await expectStatus(ann.put(`${path}/shares/${bob.id}`, { accessLevel: 1 }), 200);
  expect((await render(ann, path)).text).toBe('50 of 50');
  const preview = await render(ann, path, { preview: true, progress: 'look' });
  expect(preview.text).toBe('20 of 50');
  const { body } = await ann.get(preview.headers.get('location')!.slice(4));
  expect(Date.parse(body.expiresAt) - Date.parse(body.createdAt)).toBeLessThanOrEqual(3_600_000);
  expect((await ann.get('/progress/look')).body).toMatchObject({ status: 'succeeded', operation: 'template.render' });
});

test('a template knows its user, itself and the time, and no secrets', async ({ ann, service }) => {
  await expectStatus(ann.put('/me', { displayName: 'Ann Arbor', timezone: 'Europe/Berlin' }), 200);
  const { path, id, slug } = await createRenderable(
    ann,
    { files: { 'x.njk': '{{ { user: user, template: template, now: now } | dump }}' }, settings: { locale: 'de' } },
    { handler: 'text', name: 'What it knows', description: 'All' },
  );
  const known = JSON.parse((await render(ann, path)).text);
  expect(known).toEqual({
    user: { id: ann.id, username: 'ann', name: 'Ann Arbor', timezone: 'Europe/Berlin', locale: 'de' },
    template: { id, name: 'What it knows', slug, description: 'All' },
    now: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  });
  expect(JSON.stringify(known)).not.toContain(service.platform.config.DATA_DIR);
});
