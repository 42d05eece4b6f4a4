import { AuditEvent } from '../../../entities/audit-event.ts';
import { User } from '../../../entities/user.ts';
import { AUDIT_FILTERS } from './audit-log.ts';
import { belongsTo, defineModel } from './define-model.ts';
import { superusersOnly } from './node-access.ts';

export const auditEventModel = defineModel(AuditEvent, {
  nodeAccess: superusersOnly,
  relations: { user: belongsTo(User, 'user_id') },
  searchedFields: [],
  sortable: ['createdAt'],
  defaultSort: '-createdAt',
  filters: AUDIT_FILTERS,
});
