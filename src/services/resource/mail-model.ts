import { Mail } from '../../../entities/mail.ts';
import { User } from '../../../entities/user.ts';
import { belongsTo, defineModel } from './define-model.ts';
import { superusersOnly } from './node-access.ts';

export const mailModel = defineModel(Mail, {
  nodeAccess: superusersOnly,
  searchedFields: ['to', 'subject'],
  sortable: ['to', 'subject', 'status', 'attempts', 'sentAt', 'createdAt', 'updatedAt'],
  defaultSort: '-createdAt',
  relations: { user: belongsTo(User, 'user_id') },
});
