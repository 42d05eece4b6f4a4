import { collection, resource } from '../present.ts';
import { get, put } from '../route.ts';

const notification = resource<{ id: string }>(
  'id type message link resource { kind id } read readAt createdAt updatedAt',
  ({ id }) => ({ self: `/notifications/${id}` }),
);

export default [
  get('/notifications', 'notifications', collection('notification', notification)),
  put('/notifications/:id', 'updateNotification', notification, { example: { read: true } }),
];
