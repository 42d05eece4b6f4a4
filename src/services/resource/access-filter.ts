import { LEVEL, type ShareLevel } from '../../core/permissions.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import type { RowAlias } from '../../core/read/model.ts';
import { actingPrincipal, type Viewer } from '../../core/viewer.ts';
import { ownershipLevel, UNRESTRICTED } from './access-level.ts';

/** A where-clause over the columns of a kind with owners; null for all rows of the tenant. */
type OwnedFilter = (viewer: Viewer) => { sql: string; params: unknown[] } | null;

/** Returns SQL for the ids of the resources on which a share of the viewer meets the condition `shares`. */
const sharedIds = ({ tenantId, principals }: Viewer, shares: string): { sql: string; params: unknown[] } => ({
  // `array(…)` is evaluated once, not once for each row, so that an index finds the rows of both sides of an `or`.
  sql: `array(
    select s.resource_id from dws.share s
    where s.tenant_id = ? and s.principal = any(?) and ${shares})`,
  params: [tenantId, principals],
});

/**
 * Returns a where-clause for the rows that one of `owners` owns or that a share of the viewer with the condition
 * `shares` grants. `row` is the prefix of the columns.
 */
const ownedOrShared = (
  viewer: Viewer,
  owners: readonly string[],
  shares: string,
  row = '',
): { sql: string; params: unknown[] } => {
  const shared = sharedIds(viewer, shares);
  return {
    sql: `${row}owner_id = any(?) or ${row}id = any(${shared.sql})`,
    params: [owners, ...shared.params],
  };
};

const CAN_READ = `s.access_level >= ${LEVEL.view}`;

/** Filters the rows of a kind with owners that the viewer may read, in full or in part. Columns have no prefix. */
export const readable: OwnedFilter = (viewer) =>
  viewer.superuser ? null : ownedOrShared(viewer, viewer.principals, CAN_READ);

const atLeast =
  (level: ShareLevel) =>
  (viewer: Viewer, row?: RowAlias): ReturnType<OwnedFilter> =>
    viewer.superuser
      ? null
      : ownedOrShared(
          viewer,
          viewer.principals.filter((principal) => ownershipLevel(viewer, principal) >= level),
          `s.access_level >= ${level} and ${UNRESTRICTED}`,
          row && `${row}.`,
        );

/** Filters the rows of a kind with owners that the viewer may read in full. Columns have the prefix of their row. */
export const fullyVisible = (viewer: Viewer, row: RowAlias = 'r'): ReturnType<OwnedFilter> =>
  atLeast(LEVEL.view)(viewer, row);

/** Filters the rows of a kind with owners that the viewer may write. Columns have no prefix. */
export const writable: OwnedFilter = atLeast(LEVEL.edit);

/** Filters the rows of a kind with owners that the viewer may share. Columns have no prefix. */
export const shareable: OwnedFilter = atLeast(LEVEL.admin);

/**
 * Filters the datasets that the viewer may read. Drafts and snapshots require access to their dataset; a draft is
 * visible to its owner only.
 */
export const readableDatasets: AccessFilter = (viewer) => {
  const filter = readable(viewer);
  if (!filter) return null;
  const parents = `select id from dws.dataset where tenant_id = ? and (${filter.sql})`;
  return {
    sql: `
      r.parent_id is null and (${filter.sql})
      or r.parent_id = any(array(${parents})) and (r.is_snapshot or r.owner_id = ?)`,
    params: [...filter.params, viewer.tenantId, ...filter.params, actingPrincipal(viewer)],
  };
};

/** Filters the rows of kinds whose drafts have the owner of their original and are shared with it. */
const readableWithDrafts: AccessFilter = (viewer) => {
  const filter = readable(viewer);
  if (!filter) return null;
  const shared = sharedIds(viewer, CAN_READ);
  return { sql: `${filter.sql} or r.parent_id = any(${shared.sql})`, params: [...filter.params, ...shared.params] };
};

/** Filters the jobs that the viewer may read. */
export const readableJobs = readableWithDrafts;

/** Filters the templates that the viewer may read. */
export const readableTemplates = readableWithDrafts;

/**
 * Filters the rows about a resource that the viewer may access. `column` contains the id of the resource, which is a
 * row of `table`.
 */
export const readableThrough =
  (table: string, column: string, resourceFilter: OwnedFilter = readable): AccessFilter =>
  (viewer) => {
    const filter = resourceFilter(viewer);
    return (
      filter && {
        sql: `r.${column} in (select id from dws.${table} where tenant_id = ? and (${filter.sql}))`,
        params: [viewer.tenantId, ...filter.params],
      }
    );
  };
