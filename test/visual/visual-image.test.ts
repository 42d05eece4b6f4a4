import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { HAS_CHROMIUM } from '../support/engines.ts';
import { test as base } from '../support/shop-fixture.ts';

/** Folder for screenshots of the images, if set. */
const SCREENSHOTS = process.env['SCREENSHOTS'];

const BREAKOUT = '</svg><script>alert(1)</script>';
const HOSTILE_QUERY = `
  select
    n as id,
    (array['Europe', '${BREAKOUT}', 'a & "b" ''c'' <!-- ]]>', E'control \\u0001 {c|d} {b}', null])[1 + n % 5]
      as "</text><script>",
    n * 1.5::float8 as amount,
    9007199254740993::bigint + n as big,
    date '2026-01-01' + n as day,
    timestamptz '2026-01-01 10:00:00+00' + n * interval '1 hour' as at,
    n % 2 = 0 as even,
    repeat('long ', 100) || n as note
  from generate_series(1, 2500) n`;

interface DatasetWithImages {
  id: string;
  image(component: string, config: object, query?: string): Promise<{ status: number; headers: Headers; body: string }>;
}

/** The shop with a dataset of 2500 rows of hostile texts, and a function that renders visuals of it. */
const test = base.extend<{ hostile: DatasetWithImages }>({
  hostile: [
    async ({ ann, source }, use) => {
      const { id, records } = await ann.creates('/datasets', {
        name: 'Hostile',
        datasourceId: source.id,
        query: HOSTILE_QUERY,
        refresh: true,
      });
      expect(records).toBe(2500);
      await use({
        id,
        async image(component, config, query = '') {
          const visual = await ann.creates(`/datasets/${id}/visuals`, {
            component,
            config,
            name: `${component} ${BREAKOUT}`,
          });
          return ann.get(`/datasets/${id}/visuals/${visual.id}/image.svg${query}`);
        },
      });
    },
    { scope: 'file' },
  ],
});

const NAME = '</text><script>';
const VISUALS: [component: string, config: object][] = [
  [
    'bar-chart',
    { xAxis: NAME, yAxis: 'amount', groupBy: 'even', showDataLabels: true, stacked: true, chartTitle: BREAKOUT },
  ],
  ['bar-chart', { xAxis: 'id', orientation: 'horizontal', colorScheme: '" onload="x' }],
  ['line-chart', { xAxis: 'day', groupBy: NAME, dateFormat: '<DD>{"MM' }],
  ['line-chart', { xAxis: 'at', dateInterval: 'hour', smooth: true, showArea: true }],
  ['line-chart', { xAxis: NAME }],
  ['pie-chart', { categoryField: NAME, valueField: 'amount', innerRadius: 50 }],
  ['pie-chart', { categoryField: 'note', showLegend: false }],
  ['table', {}],
  ['scatter-plot', { xAxis: 'id', yAxis: 'amount', groupBy: NAME, sizeField: 'big', showTrendline: true }],
  ['scatter-plot', { xAxis: 'at', yAxis: NAME }],
  ['heatmap', { xAxis: NAME, yAxis: 'even', showValues: true, colorScheme: 'viridis' }],
  ['heatmap', { xAxis: 'id', yAxis: 'day' }],
  [
    'gauge',
    {
      valueField: 'amount',
      thresholds: [
        { value: 0, color: '#d1495b' },
        { value: 3_000_000, color: 'green' },
      ],
    },
  ],
  ['card', { valueField: 'day', aggregation: 'max' }],
  ['card', { valueField: 'big', aggregation: 'max', format: 'EUR' }],
];

const elementsOf = (svg: string) =>
  [...new Set([...svg.matchAll(/<([a-zA-Z][\w:-]*)/g)].map(([, name]) => name!))].toSorted();
/** The elements that the renderer uses. Any other element would be injected. */
const KNOWN_ELEMENTS = [
  'circle',
  'clipPath',
  'defs',
  'g',
  'linearGradient',
  'path',
  'polygon',
  'polyline',
  'rect',
  'stop',
  'svg',
  'text',
];

test.for(VISUALS)('a %s of %o is an image without injected elements', async ([component, config], { hostile }) => {
  const { status, headers, body } = await hostile.image(component, config);
  expect([
    status,
    headers.get('content-type'),
    headers.get('content-security-policy'),
    headers.get('x-content-type-options'),
  ]).toEqual([200, 'image/svg+xml; charset=utf-8', `default-src 'none'; style-src 'unsafe-inline'`, 'nosniff']);
  expect(body).toMatch(/^<svg width="800" height="450" [^>]*>[^]*<\/svg>$/);
  expect(elementsOf(body).filter((name) => !KNOWN_ELEMENTS.includes(name))).toEqual([]);
  expect(body).not.toMatch(/\son\w+=|javascript:|href=|url\((?!#)/i);
  expect(body).toContain('&lt;/svg&gt;&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(body.length).toBeLessThan(2_000_000);
});

test('an image has the requested size, or the size in its config, within limits', async ({ ann, hostile }) => {
  const config = { xAxis: NAME, width: 1000, height: 300 };
  expect((await hostile.image('bar-chart', config)).body).toMatch(/^<svg width="1000" height="300" /);
  expect((await hostile.image('bar-chart', config, '?width=100&height=100')).body).toMatch(
    /^<svg width="100" height="100" /,
  );
  expect((await hostile.image('card', {}, '?width=4000&height=4000')).body).toMatch(
    /^<svg width="4000" height="4000" /,
  );
  for (const query of [
    'width=99',
    'width=4001',
    'height=0',
    'height=-1',
    'width=x',
    'surprise=1',
    'limit=0',
    'filter={',
  ])
    expect(await hostile.image('card', {}, `?${query}`), query).toMatchObject({ status: 400 });
  const { id } = await ann.creates(`/datasets/${hostile.id}/visuals`, { component: 'card' });
  expect(await ann.gql(`{ dataset(id: "${hostile.id}") { visual(id: "${id}") { image(width: 5) } } }`)).toMatchObject({
    errors: [{ message: 'width must be a whole number from 100 to 4000', extensions: { code: 'BAD_USER_INPUT' } }],
  });
});

test('an image shows the filtered rows and their number, and is the same in GraphQL', async ({ ann, hostile }) => {
  const filtered = `?filter=${encodeURIComponent('{"id":{"$lte":7}}')}`;
  expect((await hostile.image('card', {}, filtered)).body).toMatch(/>7<\/text>/);
  expect((await hostile.image('card', {})).body).toMatch(/>2,500<\/text>/);
  expect((await hostile.image('card', {}, '?q=control')).body).toMatch(/>500<\/text>/);
  expect((await hostile.image('bar-chart', { xAxis: 'id' })).body).toContain('1,000 of 2,500 groups');
  expect((await hostile.image('bar-chart', { xAxis: 'id' }, '?limit=3')).body).toContain('3 of 2,500 groups');
  expect((await hostile.image('scatter-plot', { xAxis: 'id', yAxis: 'amount' }, '?limit=9000')).body).toContain(
    '2,000 of 2,500 rows',
  );
  expect((await hostile.image('table', { columns: ['id'] })).body).toMatch(/\d+ of 2,500 rows/);
  expect(
    (await hostile.image('bar-chart', { xAxis: 'id' }, `?filter=${encodeURIComponent('{"id":0}')}`)).body,
  ).toContain('>No data</text>');

  const { id } = await ann.creates(`/datasets/${hostile.id}/visuals`, {
    component: 'pie-chart',
    config: { categoryField: 'even' },
  });
  const { dataset } = await ann.data(
    `
      query ($filter: RowFilter) {
        dataset(id: "${hostile.id}") { visual(id: "${id}") { image(width: 400, height: 300, filter: $filter) } }
      }
    `,
    { filter: { id: { $lte: 7 } } },
  );
  expect(dataset.visual.image).toBe(
    (await ann.get(`/datasets/${hostile.id}/visuals/${id}/image.svg${filtered}&width=400&height=300`)).body,
  );
});

test('an image has readable names and dates, and marks incomplete periods', async ({ hostile }) => {
  const filterBy = (filter: object) => `?filter=${encodeURIComponent(JSON.stringify(filter))}`;
  const months = filterBy({ day: { $in: ['2026-02-01', '2026-03-01'] } });
  const bars = (await hostile.image('bar-chart', { xAxis: 'day', yAxis: 'amount' }, months)).body;
  for (const text of ['Feb 2026', 'Mar 2026', 'Day', 'Sum of Amount']) expect(bars).toContain(`>${text}</text>`);

  const config = { xAxis: 'at', dateInterval: 'month' };
  const whole = (await hostile.image('line-chart', config)).body;
  expect(whole).toContain('>last month incomplete</text>');
  expect(whole.match(/stroke-dasharray="4,4"/g)).toHaveLength(1);
  const part = (await hostile.image('line-chart', config, filterBy({ id: { $gte: 500 } }))).body;
  expect(part).toContain('>first and last month incomplete</text>');
  expect(part.match(/stroke-dasharray="4,4"/g)).toHaveLength(2);
  const complete = (await hostile.image('line-chart', config, filterBy({ at: { $lt: '2026-04-01' } }))).body;
  expect([complete.includes('incomplete'), complete.includes('stroke-dasharray')]).toEqual([false, false]);
});

test('many images are rendered concurrently without blocking other requests', async ({ ann, hostile }) => {
  const { id } = await ann.creates(`/datasets/${hostile.id}/visuals`, {
    component: 'scatter-plot',
    config: { xAxis: 'id', yAxis: 'amount' },
  });
  const images = Promise.all(
    Array.from({ length: 12 }, () => ann.get(`/datasets/${hostile.id}/visuals/${id}/image.svg`)),
  );
  expect((await ann.get('/me')).status).toBe(200);
  expect((await images).map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
});

test.skipIf(!HAS_CHROMIUM)(
  'a browser shows every image as well-formed XML without running scripts',
  async ({ hostile }) => {
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage({ viewport: { width: 800, height: 450 } });
      const dialogs: string[] = [];
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
      for (const [i, [component, config]] of VISUALS.entries()) {
        const { body } = await hostile.image(component, config);
        // As a document without a content security policy, so that only the escaping prevents scripts.
        await page.goto(`data:image/svg+xml;charset=utf-8;base64,${Buffer.from(body).toString('base64')}`);
        expect(
          await page.evaluate(() => [
            document.documentElement.nodeName,
            document.querySelectorAll('script, parsererror').length,
            document.querySelectorAll('text').length > 0,
          ]),
          component,
        ).toEqual(['svg', 0, true]);
        if (SCREENSHOTS) {
          mkdirSync(SCREENSHOTS, { recursive: true });
          writeFileSync(join(SCREENSHOTS, `visual-${i}-${component}.svg`), body);
          await page.screenshot({ path: join(SCREENSHOTS, `visual-${i}-${component}.png`) });
        }
      }
      expect(dialogs).toEqual([]);
    } finally {
      await browser.close();
    }
  },
);
