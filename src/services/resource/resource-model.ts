import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import { Resource } from '../../../entities/resource.ts';
import type { Model, ModelColumn } from '../../core/read/model.ts';
import { readable } from './access-filter.ts';
import type { ModelDefinition } from './define-model.ts';

const column = (name: string, type: ModelColumn['type']): ModelColumn => ({ column: name, type, nullable: false });

/** The rows of all kinds as one table, without drafts and snapshots. */
export const RESOURCES = `(${OWNED_KINDS.map(
  ({ kind, table, hasParents }) =>
    `select id, tenant_id, owner_id, folder_id, name, '${kind}' as kind
        from dws.${table}${hasParents ? ' where parent_id is null' : ''}`,
).join(' union all ')})`;

/** The resources of all kinds as one list. */
const resources: Model = {
  name: 'Resource',
  label: 'resource',
  tenantColumn: 'tenant_id',
  table: RESOURCES,
  columns: {
    id: column('id', 'uuid'),
    kind: column('kind', 'text'),
    name: column('name', 'text'),
  },
  relations: {},
  required: {},
  filters: {},
  searchedFields: ['name'],
  accessFilter: readable,
  sortable: {},
  defaultSort: 'name',
};

export const resourceModel: ModelDefinition = { entity: Resource, build: () => resources };
