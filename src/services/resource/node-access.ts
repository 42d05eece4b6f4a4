import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import type { GlobalPermission } from '../../core/permissions.ts';
import { NO_ROWS, type AccessFilter, type Condition } from '../../core/read/condition.ts';
import { quoteIdentifier, type Model } from '../../core/read/model.ts';
import type { EntityType } from '../../core/read/reader.ts';
import type { Viewer } from '../../core/viewer.ts';
import { fullyVisible } from './access-filter.ts';
import { modelFor } from './define-model.ts';

/** Returns the condition that `column` contains the id of a row of the model that the filter allows. */
const inModel = (
  { table, tenantColumn }: Model,
  column: string,
  filter: Condition,
  { tenantId }: Viewer,
): Condition => ({
  sql: `r.${column} in (select r.id from ${table} r where r.${quoteIdentifier(tenantColumn)} = ? and (${filter.sql}))`,
  params: [tenantId, ...filter.params],
});

/** Filters rows by the access to their parent, whose id is in `column`. The parent may have a parent itself. */
export const throughParent =
  (parent: EntityType, column: string): AccessFilter =>
  (viewer) => {
    const model = modelFor(parent);
    const filter = (model.accessFilter ?? model.nodeAccess)?.(viewer);
    return filter ? inModel(model, column, filter, viewer) : null;
  };

/** Filters rows with the columns `kind` and `resource_id` by a filter on their resource, of any kind with owners. */
const throughAnyKind =
  (filterOf: (model: Model, viewer: Viewer) => Condition | null | undefined): AccessFilter =>
  (viewer) => {
    if (viewer.superuser) return null;
    const conditions = OWNED_KINDS.flatMap(({ kind, entity }) => {
      const model = modelFor(entity as EntityType);
      const filter = filterOf(model, viewer);
      if (!filter) return [];
      const { sql, params } = inModel(model, 'resource_id', filter, viewer);
      return [{ sql: `r.kind = '${kind}' and ${sql}`, params }];
    });
    return {
      sql: conditions.map(({ sql }) => `(${sql})`).join(' or '),
      params: conditions.flatMap(({ params }) => params),
    };
  };

/** Filters rows about a resource: the viewer may read the resource. */
export const throughResource: AccessFilter = throughAnyKind((model, viewer) => model.accessFilter?.(viewer));

/**
 * Filters rows about a resource: the viewer may read the resource without restriction. Readers with restricted access
 * see such rows only below the resource, where they are limited to the visible part.
 */
export const throughVisibleResource: AccessFilter = throughAnyKind((model, viewer) => {
  const [readable, visible] = [model.accessFilter?.(viewer), fullyVisible(viewer)];
  return readable && visible
    ? { sql: `(${readable.sql}) and (${visible.sql})`, params: [...readable.params, ...visible.params] }
    : visible;
});

/** Filters rows with the column `user_id`: the viewer's own. */
export const ownRows: AccessFilter = ({ userId }) => ({ sql: 'r.user_id = ?', params: [userId] });

/** Filters rows that only superusers may read. */
export const superusersOnly: AccessFilter = ({ superuser }) => (superuser ? null : NO_ROWS);

/** Filters rows that only users with a global permission may read. */
export const withGlobalPermission =
  (permission: GlobalPermission): AccessFilter =>
  ({ superuser, permissions }) =>
    superuser || permissions.has(permission) ? null : NO_ROWS;
