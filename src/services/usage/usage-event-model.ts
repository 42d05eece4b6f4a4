import type { UsageEventFilter } from '../../../entities/usage-event-input.ts';
import { UsageEvent } from '../../../entities/usage-event.ts';
import type { ListFilter } from '../../core/read/model.ts';
import { belongsToUser, defineModel, equalsFilter } from '../resource/define-model.ts';
import { withGlobalPermission } from '../resource/node-access.ts';

const equals = (field: keyof UsageEvent): ListFilter => equalsFilter(UsageEvent, field);

const filters: Record<keyof UsageEventFilter, ListFilter> = {
  actor: equals('actor'),
  resourceType: equals('resourceType'),
  entityId: equals('entityId'),
  from: (value) => ({ sql: 'occurred_at >= ?', params: [value] }),
  to: (value) => ({ sql: 'occurred_at < ?', params: [value] }),
};

export const usageEventModel = defineModel(UsageEvent, {
  nodeAccess: withGlobalPermission('billing:manage'),
  relations: { user: belongsToUser('actor') },
  searchedFields: [],
  sortable: [],
  defaultSort: '-occurredAt',
  filters,
});
