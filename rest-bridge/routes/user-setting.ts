import { value } from '../present.ts';
import { del, get, put } from '../route.ts';

const path = '/datasets/:id/user-settings';
const settings = value('settings updatedAt');

export default [
  get(path, 'dataset.userSettings', settings),
  put(path, 'setDatasetUserSettings', settings, { example: { settings: { columns: ['country', 'amount'] } } }),
  del(path, 'deleteDatasetUserSettings'),
];
