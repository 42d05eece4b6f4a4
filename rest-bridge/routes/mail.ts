import { collection, resource } from '../present.ts';
import { get } from '../route.ts';

interface Mail {
  userId: string | null;
}

const mail = resource<Mail>(
  'id userId to subject text html attachments { filename contentType size } status attempts error sentAt createdAt updatedAt',
  ({ userId }) => ({ 'svc:user': userId ? `/users/${userId}` : undefined }),
);

export default [get('/outbox', 'outbox', collection('mail', mail))];
