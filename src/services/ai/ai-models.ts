import type { AiCallFilter } from '../../../entities/ai-call-input.ts';
import { AiCall } from '../../../entities/ai-call.ts';
import { AiProvider } from '../../../entities/ai-provider.ts';
import { User } from '../../../entities/user.ts';
import { type AccessFilter, NO_ROWS } from '../../core/read/condition.ts';
import type { ListFilter } from '../../core/read/model.ts';
import { belongsTo, defineModel, equalsFilter } from '../resource/define-model.ts';
import { superusersOnly } from '../resource/node-access.ts';

/** Filters the providers of the tenant and the viewer's own ones. Superusers do not see providers of other users. */
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

const equals = (field: keyof AiCall): ListFilter => equalsFilter(AiCall, field);

const filters: Record<keyof AiCallFilter, ListFilter> = {
  actor: equals('actor'),
  action: equals('action'),
  status: equals('status'),
  from: (value) => ({ sql: 'created_at >= ?', params: [value] }),
  to: (value) => ({ sql: 'created_at < ?', params: [value] }),
};

export const aiCallModel = defineModel(AiCall, {
  label: 'AI call',
  nodeAccess: superusersOnly,
  searchedFields: [],
  sortable: [],
  defaultSort: '-createdAt',
  filters,
  relations: { provider: belongsTo(AiProvider, 'provider_id'), user: belongsTo(User, 'user_id') },
});
