import { PICTURE_TYPES } from '../../src/core/pictures.ts';
import { avatarPicture, privatePicture } from '../picture.ts';
import { value } from '../present.ts';
import { del, get, post, put, type Json } from '../route.ts';

const image = value('contentType sha256 immutable');

/** Form fields that Flow.js and Plupload add. They are ignored. */
const IGNORED = new Set([
  'name',
  'flowChunkSize',
  'flowCurrentChunkSize',
  'flowTotalSize',
  'flowIdentifier',
  'flowFilename',
  'flowRelativePath',
]);
const withoutIgnored = (body: Json): Json =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !IGNORED.has(name)));

export default [
  get('/users/:username/avatar', 'avatar', image, { handler: avatarPicture, produces: 'image/webp' }),
  get('/users/:username/avatar-full', 'originalAvatar', image, {
    handler: privatePicture,
    produces: Object.values(PICTURE_TYPES),
    linked: ({ avatarUrl }) => String(avatarUrl).includes('?'),
  }),
  put('/users/:username/avatar', 'setAvatar', value('username avatarUrl'), {
    consumes: 'multipart',
    example: { file: 'the bytes of a picture' },
  }),
  del('/users/:username/avatar', 'deleteAvatar'),
  post(
    '/users/:username/_upload/:uploadId/avatar-upload',
    'uploadAvatarPart',
    value('uploadId received total complete avatarUrl'),
    { consumes: 'multipart', map: withoutIgnored, example: { file: 'bytes of a picture', chunk: 0, chunks: 3 } },
  ),
];
