import { AiProvider } from '../../../entities/ai-provider.ts';
import { User } from '../../../entities/user.ts';
import { NO_ROWS, type AccessFilter } from '../../core/read/condition.ts';
import { belongsTo, defineModel } from '../resource/define-model.ts';

/** Filters the providers of the tenant and the viewer's own ones. Superusers do not see those of other users. */
const usableProviders: AccessFilter = ({ userId, superuser, permissions }) =>
  superuser || permissions.has('ai:access')
    ? { sql: '(r.owner_id is null or r.owner_id = ?)', params: [userId] }
    : NO_ROWS;

export const aiProviderModel = defineModel(AiProvider, {
  label: 'AI provider',
  accessFilter: usableProviders,
  searchedFields: ['name'],
  sortable: ['name', 'enabled', 'createdAt', 'updatedAt'],
  defaultSort: 'name',
  relations: { owner: belongsTo(User, 'owner_id') },
});
