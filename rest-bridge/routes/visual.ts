import { collection, resource, value } from '../present.ts';
import { del, get, post, put } from '../route.ts';
import { svgImage } from '../svg-image.ts';

interface Visual {
  id: string;
  datasetId: string;
}

const pathOf = ({ id, datasetId }: Visual) => `/datasets/${datasetId}/visuals/${id}`;
const visual = resource<Visual>(
  'id name description component datasetId ownerId config embedded pinned position imageUrl createdAt updatedAt permissions { edit delete }',
  (one) => ({
    self: pathOf(one),
    'svc:dataset': `/datasets/${one.datasetId}`,
    'svc:data': `${pathOf(one)}/data`,
    'svc:image': `${pathOf(one)}/image.svg`,
  }),
  { identity: ['component', 'datasetId', 'ownerId'] },
);

const TEMPLATES = {
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
const templates = value(
  'id name component description icon category config',
  (found) => ({ templates: found }),
  TEMPLATES,
);

const single = '/datasets/:datasetId/visuals/:id';

export default [
  get('/datasets/:id/visuals', 'dataset.visuals', collection('visual', visual)),
  post('/datasets/:datasetId/visuals', 'createVisual', visual),
  get(single, 'dataset.visual', visual),
  put(single, 'updateVisual', visual),
  del(single, 'deleteVisual'),
  get(`${single}/data`, 'dataset.visual.data', value('columns { name label type } rows total truncated')),
  get(`${single}/image.svg`, 'dataset.visual.image', value(), { handler: svgImage, produces: 'image/svg+xml' }),
  get('/datasets/:id/visual-templates', 'dataset.visualTemplates', templates),
  get('/visual-components', 'visualComponents', collection('visual-component', value('id name schema needs'))),
];
