import { Notification } from '../../../entities/notification.ts';
import { defineModel } from './define-model.ts';
import { ownNotifications, readFilter } from './notification.ts';

export const notificationModel = defineModel(Notification, {
  accessFilter: ownNotifications,
  searchedFields: [],
  sortable: ['type', 'readAt', 'createdAt', 'updatedAt'],
  defaultSort: '-createdAt',
  filters: { read: readFilter },
});
