import { collection, resource, value } from '../present.ts';
import { del, get, post, put } from '../route.ts';
import { svgImage } from '../svg-image.ts';
import { ROW_PARAMETERS } from './dataset.ts';

interface Visual {
  id: string;
  datasetId: string;
}

const pathOf = ({ id, datasetId }: Visual) => `/datasets/${datasetId}/visuals/${id}`;
const visual = resource<Visual>(
  `id name description component datasetId ownerId config embedded pinned position imageUrl createdAt updatedAt
   permissions { edit delete }`,
  (record) => ({
    self: pathOf(record),
    'svc:dataset': `/datasets/${record.datasetId}`,
    'svc:data': `${pathOf(record)}/data`,
    'svc:image': `${pathOf(record)}/image.svg`,
  }),
  { identity: ['component', 'datasetId', 'ownerId'] },
);

const TEMPLATES_SHAPE = {
  type: 'object',
  required: ['templates'],
  properties: {
    templates: {
      type: 'array',
      items: {
        type: 'object',
        properties: Object.fromEntries(
          ['id', 'name', 'component', 'description', 'icon', 'category']
            .map((name) => [name, { type: 'string' }])
            .concat([['config', { type: 'object' }]]),
        ),
      },
    },
  },
};
const visualTemplates = value(
  'id name component description icon category config',
  (templates) => ({ templates }),
  TEMPLATES_SHAPE,
);

const single = '/datasets/:datasetId/visuals/:id';

export default [
  get('/datasets/:id/visuals', 'dataset.visuals', collection('visual', visual)),
  post('/datasets/:datasetId/visuals', 'createVisual', visual, {
    example: {
      component: 'bar-chart',
      name: 'By country',
      config: { xAxis: 'country', yAxis: 'amount', aggregation: 'sum', orientation: 'horizontal' },
    },
  }),
  get(single, 'dataset.visual', visual),
  put(single, 'updateVisual', visual, { example: { name: 'Amount by country', pinned: true } }),
  del(single, 'deleteVisual'),
  get(`${single}/data`, 'dataset.visual.data', value('columns { name label type format } rows total truncated'), {
    parameterExamples: ROW_PARAMETERS,
  }),
  get(`${single}/image.svg`, 'dataset.visual.image', value(), {
    handler: svgImage,
    produces: 'image/svg+xml',
    parameterExamples: ROW_PARAMETERS,
  }),
  get('/datasets/:id/visual-templates', 'dataset.visualTemplates', visualTemplates),
  get('/visual-components', 'visualComponents', collection('visual-component', value('id name schema needs'))),
];
