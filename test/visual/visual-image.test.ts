import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { expect } from 'vitest';
import { CHROMIUM, HAS_CHROMIUM } from '../support/engines.ts';
import { test as base } from '../support/shop-fixture.ts';

/** `SCREENSHOTS=folder` keeps what the pictures look like. */
const SHOTS = process.env['SCREENSHOTS'];

const BREAKOUT = '</svg><script>alert(1)</script>';
const AWKWARD = `select n as id, (array['Europe', '${BREAKOUT}', 'a & "b" ''c'' <!-- ]]>', E'control \\u0001 {c|d} {b}', null])[1 + n % 5] as "</text><script>", n * 1.5::float8 as amount, 9007199254740993::bigint + n as big,
  date '2026-01-01' + n as day, timestamptz '2026-01-01 10:00:00+00' + n * interval '1 hour' as at, n % 2 = 0 as even, repeat('long ', 100) || n as note from generate_series(1, 2500) n`;

interface Shown {
  id: string;
  image(component: string, config: object, query?: string): Promise<{ status: number; headers: Headers; body: string }>;
}

/** The world with a dataset of 2500 awkward rows, and pictures of it. */
const test = base.extend<{ shown: Shown }>({
  shown: [
    async ({ ann, source }, use) => {
      const { id, records } = await ann.creates('/datasets', {
        name: 'Awkward',
        datasourceId: source.id,
        query: AWKWARD,
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
const PICTURES: [component: string, config: object][] = [
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

/** What a picture consists of; anything else than shapes and texts would be foreign. */
const elements = (svg: string) =>
  [...new Set([...svg.matchAll(/<([a-zA-Z][\w:-]*)/g)].map(([, name]) => name!))].toSorted();
const DRAWN = [
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

test.for(PICTURES)(
  'a %s of %o is a picture in which every text is only text',
  async ([component, config], { shown }) => {
    const { status, headers, body } = await shown.image(component, config);
    expect([
      status,
      headers.get('content-type'),
      headers.get('content-security-policy'),
      headers.get('x-content-type-options'),
    ]).toEqual([200, 'image/svg+xml; charset=utf-8', `default-src 'none'; style-src 'unsafe-inline'`, 'nosniff']);
    expect(body).toMatch(/^<svg width="800" height="450" [^>]*>[^]*<\/svg>$/);
    expect(elements(body).filter((name) => !DRAWN.includes(name))).toEqual([]);
    expect(body).not.toMatch(/\son\w+=|javascript:|href=|url\((?!#)/i);
    expect(body).toContain('&lt;/svg&gt;&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(body.length).toBeLessThan(2_000_000);
  },
);

test('a picture has the size that is asked for, else that of its config, within bounds', async ({ ann, shown }) => {
  const config = { xAxis: NAME, width: 1000, height: 300 };
  expect((await shown.image('bar-chart', config)).body).toMatch(/^<svg width="1000" height="300" /);
  expect((await shown.image('bar-chart', config, '?width=100&height=100')).body).toMatch(
    /^<svg width="100" height="100" /,
  );
  expect((await shown.image('card', {}, '?width=4000&height=4000')).body).toMatch(/^<svg width="4000" height="4000" /);
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
    expect(await shown.image('card', {}, `?${query}`), query).toMatchObject({ status: 400 });
  const { id } = await ann.creates(`/datasets/${shown.id}/visuals`, { component: 'card' });
  expect(await ann.gql(`{ dataset(id: "${shown.id}") { visual(id: "${id}") { image(width: 5) } } }`)).toMatchObject({
    errors: [{ message: 'width must be a whole number from 100 to 4000', extensions: { code: 'BAD_USER_INPUT' } }],
  });
});

test('a picture shows what the filter leaves, says what it leaves out, and is the same by GraphQL', async ({
  ann,
  shown,
}) => {
  const filtered = `?filter=${encodeURIComponent('{"id":{"$lte":7}}')}`;
  expect((await shown.image('card', {}, filtered)).body).toMatch(/>7<\/text>/);
  expect((await shown.image('card', {})).body).toMatch(/>2,500<\/text>/);
  expect((await shown.image('card', {}, '?q=control')).body).toMatch(/>500<\/text>/);
  expect((await shown.image('bar-chart', { xAxis: 'id' })).body).toContain('1,000 of 2,500 groups');
  expect((await shown.image('bar-chart', { xAxis: 'id' }, '?limit=3')).body).toContain('3 of 2,500 groups');
  expect((await shown.image('scatter-plot', { xAxis: 'id', yAxis: 'amount' }, '?limit=9000')).body).toContain(
    '2,000 of 2,500 rows',
  );
  expect((await shown.image('table', { columns: ['id'] })).body).toMatch(/\d+ of 2,500 rows/);
  expect((await shown.image('bar-chart', { xAxis: 'id' }, `?filter=${encodeURIComponent('{"id":0}')}`)).body).toContain(
    '>No data</text>',
  );

  const { id } = await ann.creates(`/datasets/${shown.id}/visuals`, {
    component: 'pie-chart',
    config: { categoryField: 'even' },
  });
  const { dataset } = await ann.data(
    `
      query ($filter: JSON) {
        dataset(id: "${shown.id}") { visual(id: "${id}") { image(width: 400, height: 300, filter: $filter) } }
      }
    `,
    { filter: { id: { $lte: 7 } } },
  );
  expect(dataset.visual.image).toBe(
    (await ann.get(`/datasets/${shown.id}/visuals/${id}/image.svg${filtered}&width=400&height=300`)).body,
  );
});

test('many pictures at once are all drawn, while the service answers others', async ({ ann, shown }) => {
  const { id } = await ann.creates(`/datasets/${shown.id}/visuals`, {
    component: 'scatter-plot',
    config: { xAxis: 'id', yAxis: 'amount' },
  });
  const pictures = Promise.all(
    Array.from({ length: 12 }, () => ann.get(`/datasets/${shown.id}/visuals/${id}/image.svg`)),
  );
  expect((await ann.get('/me')).status).toBe(200);
  expect((await pictures).map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
});

test.skipIf(!HAS_CHROMIUM)('a browser shows every picture, as well-formed XML that runs nothing', async ({ shown }) => {
  const browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage({ viewport: { width: 800, height: 450 } });
    const slips: string[] = [];
    page.on('dialog', (dialog) => {
      slips.push(dialog.message());
      void dialog.dismiss();
    });
    for (const [i, [component, config]] of PICTURES.entries()) {
      const { body } = await shown.image(component, config);
      // Without a policy, and as a document of its own: nothing but the escaping stands between a name and a script.
      await page.goto(`data:image/svg+xml;charset=utf-8;base64,${Buffer.from(body).toString('base64')}`);
      expect(
        await page.evaluate(() => [
          document.documentElement.nodeName,
          document.querySelectorAll('script, parsererror').length,
          document.querySelectorAll('text').length > 0,
        ]),
        component,
      ).toEqual(['svg', 0, true]);
      if (SHOTS) {
        mkdirSync(SHOTS, { recursive: true });
        writeFileSync(join(SHOTS, `visual-${i}-${component}.svg`), body);
        await page.screenshot({ path: join(SHOTS, `visual-${i}-${component}.png`) });
      }
    }
    expect(slips).toEqual([]);
  } finally {
    await browser.close();
  }
});
