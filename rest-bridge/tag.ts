import { resource } from './present.ts';

/** A tag as its own routes and the tags of every kind print it. */
export const tag = resource<{ id: string }>(
  'id name color description creatorId createdAt updatedAt permissions { read edit delete }',
  ({ id }) => ({ self: `/tags/${id}`, 'svc:permissions': `/tags/${id}/permissions` }),
);
