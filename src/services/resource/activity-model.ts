import { Activity } from '../../../entities/activity.ts';
import { User } from '../../../entities/user.ts';
import { belongsTo, defineModel } from './define-model.ts';

/** Read through its resource, so it has no access filter. */
export const activityModel = defineModel(Activity, {
  searchedFields: [],
  defaultSort: '-createdAt',
  relations: { user: belongsTo(User, 'user_id') },
});
