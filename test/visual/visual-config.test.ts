import { expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { test } from './visual-fixture.ts';

const COMPONENTS = ['bar-chart', 'line-chart', 'pie-chart', 'table', 'scatter-plot', 'heatmap', 'gauge', 'card'];
test('the input and the config are checked when a visual is saved', async ({ ann, orders, createVisual }) => {
  const id = await createVisual({ xAxis: 'region' });
  for (const [body, message] of [
    [{}, '"component" is required'],
    [{ component: 'radar' }, '"component" cannot be "radar"'],
    [{ component: 'card', name: ' ' }, 'name must not be empty'],
    [{ component: 'card', config: [] }, 'config'],
    [{ component: 'card', config: { xAxis: 'region' } }, 'config.xAxis is unknown'],
    [{ component: 'bar-chart', config: { stacked: 'yes' } }, 'config.stacked must be boolean,null'],
    [
      { component: 'bar-chart', config: { aggregation: 'median' } },
      'config.aggregation must be one of sum, avg, count, min, max, countDistinct',
    ],
    [{ component: 'bar-chart', config: { width: 50 } }, 'config.width must be >= 100'],
    [
      { component: 'line-chart', config: { dateInterval: 'decade' } },
      'config.dateInterval must be one of minute, hour',
    ],
    [{ component: 'table', config: { columns: 'region' } }, 'config.columns must be array,null'],
    [{ component: 'table', config: { sortOrder: 'up' } }, 'config.sortOrder must be one of asc, desc'],
    [{ component: 'gauge', config: { min: 5, max: 5 } }, 'config.max must be greater than config.min'],
    [
      { component: 'gauge', config: { thresholds: [{ value: 1, color: 'red" onload="x' }] } },
      'config.thresholds.0.color must match pattern',
    ],
    [{ component: 'pie-chart', config: { innerRadius: 100 } }, 'config.innerRadius must be <= 95'],
  ] as const)
    await expectBody(ann.post(orders.visuals, body), 400, { message: expect.stringContaining(message) });
  await expectError(ann.put(`${orders.visuals}/${id}`, { component: 'table' }), 400, '"component" cannot be changed');
  await expectError(
    ann.put(`${orders.visuals}/${id}`, { component: 'bar-chart', ownerId: UNKNOWN_ID }),
    400,
    '"ownerId" cannot be changed',
  );
  await expectBody(ann.put(`${orders.visuals}/${id}`, { config: { categoryField: 'region' } }), 400, {
    message: 'config.categoryField is unknown',
    validation: [{ path: ['config', 'categoryField'] }],
  });
  await expectError(ann.put(`${orders.visuals}/${id}`, { pinned: null }), 400);
  expect(
    await ann.gql(
      `
        mutation {
          createVisual(datasetId: "${orders.id}", input: { component: CARD, config: { xAxis: "region" } }) { id }
        }
      `,
    ),
  ).toMatchObject({ errors: [{ message: 'config.xAxis is unknown', extensions: { code: 'BAD_USER_INPUT' } }] });
  expect((await ann.get(`${orders.visuals}/${id}`)).body.config).toEqual({ xAxis: 'region' });
});

test('every component has a JSON Schema, and a template that can be saved', async ({ ann, orders }) => {
  const { body } = await ann.get('/visual-components');
  expect(body).toMatchObject({
    total: 8,
    _embedded: {
      'svc:visual-component': COMPONENTS.map((id) => ({
        id,
        name: expect.any(String),
        schema: { type: 'object', additionalProperties: false, properties: expect.any(Object) },
      })),
    },
  });
  expect(body._embedded['svc:visual-component'][0]).toMatchObject({
    needs: ['xAxis'],
    schema: {
      properties: {
        xAxis: { type: ['string', 'null'], format: 'field' },
        aggregation: { enum: ['sum', 'avg', 'count', 'min', 'max', 'countDistinct', null] },
      },
    },
  });
  expect((await ann.data('{ visualComponents { id needs } }')).visualComponents).toContainEqual({
    id: 'SCATTER_PLOT',
    needs: ['xAxis', 'yAxis'],
  });

  const { templates } = await expectBody(ann.get(`/datasets/${orders.id}/visual-templates`), 200, {});
  const templateComponents = new Set(templates.map(({ component }: { component: string }) => component));
  expect([...templateComponents].sort()).toEqual(COMPONENTS.toSorted());
  for (const { component, config, ...rest } of templates) {
    expect(rest).toEqual({
      id: expect.any(String),
      name: expect.any(String),
      description: expect.any(String),
      icon: expect.any(String),
      category: expect.any(String),
    });
    expect(Object.values(config)).toContain(null);
    const visual = await ann.creates(orders.visuals, { component, config });
    expect(visual.config).toEqual(config);
    await ann.delete(`${orders.visuals}/${visual.id}`);
  }
});
