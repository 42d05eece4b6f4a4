import { AuditEvent } from '../../../entities/audit-event.ts';
import { AUDIT_FILTERS } from './audit-log.ts';
import { defineModel } from './define-model.ts';

export const auditEventModel = defineModel(AuditEvent, {
  searchedFields: [],
  sortable: ['createdAt'],
  defaultSort: '-createdAt',
  filters: AUDIT_FILTERS,
});
