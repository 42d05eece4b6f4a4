import { Activity } from '../../../entities/activity.ts';
import { User } from '../../../entities/user.ts';
import { belongsTo, defineModel } from './define-model.ts';
import { throughVisibleResource } from './node-access.ts';

/** Read through its resource. */
export const activityModel = defineModel(Activity, {
  nodeAccess: throughVisibleResource,
  searchedFields: [],
  defaultSort: '-createdAt',
  relations: { user: belongsTo(User, 'user_id') },
});
