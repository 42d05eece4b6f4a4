import type { AiCallFilter } from '../../../entities/ai-call-input.ts';
import { AiCall } from '../../../entities/ai-call.ts';
import { AiProvider } from '../../../entities/ai-provider.ts';
import { User } from '../../../entities/user.ts';
import type { ListFilter } from '../../core/read/model.ts';
import { belongsTo, defineModel, equalsFilter } from '../resource/define-model.ts';
import { superusersOnly } from '../resource/node-access.ts';

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
