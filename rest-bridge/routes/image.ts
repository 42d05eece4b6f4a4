import { operation } from '../operation.ts';
import { privatePicture } from '../picture.ts';
import { collection, resource, value } from '../present.ts';
import { del, EXAMPLE_ID, get, post } from '../route.ts';

interface Image {
  id: string;
  userId: string | null;
  assistantId: string | null;
}

const image = resource<Image>(
  'id url prompt model size contentType bytes userId assistantId createdAt permissions { read delete }',
  ({ id, userId, assistantId }) => ({
    self: `/images/${id}`,
    'svc:file-contents': `/images/${id}/contents`,
    'svc:user': userId ? `/users/${userId}` : undefined,
    'svc:assistant': assistantId ? `/assistants/${assistantId}` : undefined,
  }),
);

/** Images that models have created. */
export default [
  post('/_create-image', 'createImage', operation(image), {
    example: { prompt: 'A lighthouse at dusk', size: '1024x1024', progress: `image-${EXAMPLE_ID}` },
  }),
  post('/assistants/:assistantId/_create-image', 'createAssistantImage', operation(image), {
    example: { prompt: 'A friendly robot as the portrait of the assistant' },
  }),
  get('/images', 'images', collection('image', image)),
  get('/images/:id', 'image', image),
  del('/images/:id', 'deleteImage'),
  get('/images/:id/contents', 'image', value('contentType sha256'), {
    handler: privatePicture,
    produces: ['image/png', 'image/jpeg', 'image/webp'],
  }),
];
