import { resource } from './present.ts';

/** Presents a tag, in the routes of tags and in the routes of the tags of a resource. */
export const tag = resource<{ id: string }>(
  'id name color description creatorId createdAt updatedAt permissions { read edit delete }',
  ({ id }) => ({ self: `/tags/${id}`, 'svc:permissions': `/tags/${id}/permissions` }),
);
