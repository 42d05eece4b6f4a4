import { PICTURE_TYPES } from '../../src/core/pictures.ts';
import { kind } from '../kind.ts';
import { privatePicture } from '../picture.ts';
import { resource, value } from '../present.ts';
import { del, EXAMPLE_ID, get, put } from '../route.ts';

interface Assistant {
  id: string;
}

const assistant = resource<Assistant>(
  `id tenant slug naturalId name description icon iconUrl instructions model toolkitIds datasetIds
  events { appId name } eventApps { appId owner { id name type } suspended } monthlyBudget
  ownerId owner { id name type } folderId tags createdAt updatedAt
  permissions { read write edit run share delete assignTags changeOwner }`,
  ({ id }) => ({
    self: `/assistants/${id}`,
    'svc:permissions': `/assistants/${id}/permissions`,
    'svc:favicon': `/assistants/${id}/favicon.ico`,
    'svc:images': `/images?assistantId=${id}`,
  }),
);

const image = value('contentType sha256');

export default [
  ...kind('assistants', 'assistant', assistant, {
    rows: {
      create: {
        example: {
          name: 'Shop assistant',
          icon: 'shopping-cart',
          instructions: 'Answer questions about the orders of the last quarter.',
          toolkitIds: [EXAMPLE_ID],
          datasetIds: [EXAMPLE_ID],
          events: [{ appId: EXAMPLE_ID, name: 'order.received' }],
        },
      },
      update: { example: { icon: '🚀', instructions: 'Be brief.' } },
    },
  }),
  get('/assistants/:id/icon', 'assistantIcon', image, {
    handler: privatePicture,
    produces: [PICTURE_TYPES.png, PICTURE_TYPES.svg],
  }),
  put('/assistants/:id/icon', 'setAssistantIcon', assistant, {
    consumes: 'multipart',
    example: { file: 'the bytes of a picture' },
  }),
  del('/assistants/:id/icon', 'deleteAssistantIcon'),
  get('/assistants/:id/favicon.ico', 'assistantFavicon', image, {
    handler: privatePicture,
    produces: 'image/x-icon',
    linked: false,
  }),
];
