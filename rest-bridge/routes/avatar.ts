import { avatarPicture, privatePicture } from '../picture.ts';
import { value } from '../present.ts';
import { del, get, post, put, type Json } from '../route.ts';

const image = value('contentType sha256 immutable');

/** Parts of a form that upload libraries add (Flow.js, Plupload), which say nothing that is needed. */
const UNUSED = new Set([
  'name',
  'flowChunkSize',
  'flowCurrentChunkSize',
  'flowTotalSize',
  'flowIdentifier',
  'flowFilename',
  'flowRelativePath',
]);
const withoutUnused = (body: Json): Json =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !UNUSED.has(name)));

const RASTER_AND_SVG = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/svg+xml'];

export default [
  get('/users/:username/avatar', 'avatar', image, { handler: avatarPicture, produces: 'image/webp' }),
  get('/users/:username/avatar-full', 'originalAvatar', image, {
    handler: privatePicture,
    produces: RASTER_AND_SVG,
    linked: ({ avatarUrl }) => String(avatarUrl).includes('?'),
  }),
  put('/users/:username/avatar', 'setAvatar', value('username avatarUrl'), { consumes: 'multipart' }),
  del('/users/:username/avatar', 'deleteAvatar'),
  post(
    '/users/:username/_upload/:uploadId/avatar-upload',
    'uploadAvatarPart',
    value('uploadId received total complete avatarUrl'),
    { consumes: 'multipart', map: withoutUnused },
  ),
];
