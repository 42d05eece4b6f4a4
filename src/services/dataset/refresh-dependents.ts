import type { Chip, ReferenceFilter } from '../../../entities/dataset-reference.ts';
import { LEVEL, levelAllows, type Level } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { printPrincipal } from '../../core/viewer.ts';
import type { VisualComponent } from '../../core/visual/component.ts';
import type { VisualConfig } from '../../core/visual/config.ts';
import { loadSharedLevels, ownershipLevel, type Grantee } from '../resource/access-level.ts';
import { loadNames } from '../resource/activity.ts';
import { referenceProblem, shareProblem, visualProblem, type Dependent } from './refresh-impact.ts';
import { criteriaProblem } from './saved-filter-criteria.ts';

/** A dataset whose refresh is previewed. The level of the viewer includes all rows and fields. */
interface PreviewedDataset {
  tenantId: string;
  id: string;
  viewer: Grantee;
  level: Level;
}

/** Loads all users of a dataset's fields: visuals, saved filters, restricted shares and references of reports. */
export const loadDependents = async (
  tx: Pick<Transaction, 'query'>,
  dataset: PreviewedDataset,
): Promise<Dependent[]> => [
  ...(await loadVisuals(tx, dataset)),
  ...(await loadFilters(tx, dataset)),
  ...(await loadShares(tx, dataset)),
  ...(await loadReferences(tx, dataset)),
];

async function loadVisuals(
  { query }: Pick<Transaction, 'query'>,
  { tenantId, id }: PreviewedDataset,
): Promise<Dependent[]> {
  const visuals = await query<{ id: string; name: string; component: VisualComponent; config: VisualConfig }>({
    text: `
      select id, name, component, config
      from dws.visual
      where tenant_id = $1 and dataset_id = $2
      order by position`,
    values: [tenantId, id],
  });
  return visuals.map(({ component, config, ...visual }) => ({
    kind: 'visual',
    reportId: null,
    ...visual,
    problemWith: (fields) => visualProblem(component, config, fields),
  }));
}

async function loadFilters(
  { query }: Pick<Transaction, 'query'>,
  { tenantId, id, viewer, level }: PreviewedDataset,
): Promise<Dependent[]> {
  const filters = await query<{
    id: string;
    name: string;
    criteria: Record<string, unknown>;
    ownerId: string;
    used: boolean;
  }>({
    text: `
      select id, name, criteria, owner_id as "ownerId",
        exists (select from dws.share s where s.dataset_filter_id = f.id) as used
      from dws.saved_filter f
      where tenant_id = $1 and dataset_id = $2
      order by name, id`,
    values: [tenantId, id],
  });
  return filters.map(({ criteria, ownerId, used, ...filter }) => ({
    kind: 'filter',
    reportId: null,
    ...filter,
    hidden: !canReadFilter(viewer, level, ownerId, used),
    problemWith: (fields) => criteriaProblem(criteria, fields, false),
  }));
}

/** Returns whether the viewer may read a filter, by the rule of FILTER_ACCESS in `saved-filter-model.ts`. */
const canReadFilter = (viewer: Grantee, level: Level, ownerId: string, used: boolean): boolean =>
  ownershipLevel(viewer, ownerId) > LEVEL.none || (used && levelAllows(level, 'dataset:share'));

interface RestrictedShare extends Record<string, unknown> {
  principal: string;
  criteria: Record<string, unknown> | null;
  filterOwnerId: string | null;
  visible: string[] | null;
}

async function loadShares(
  tx: Pick<Transaction, 'query'>,
  { tenantId, id, viewer, level }: PreviewedDataset,
): Promise<Dependent[]> {
  const shares = await tx.query<RestrictedShare>({
    text: `
      select s.principal, f.criteria, f.owner_id as "filterOwnerId",
        case when s.restrict_fields and d.field_security_enabled then s.visible_fields end as visible
      from dws.share s
      join dws.dataset d on d.id = s.resource_id
      left join dws.saved_filter f on f.id = s.dataset_filter_id
      where s.tenant_id = $1 and s.resource_id = $2
        and (s.dataset_filter_id is not null or s.restrict_fields)
      order by s.id`,
    values: [tenantId, id],
  });
  const nameOf = await loadNames(
    tx,
    tenantId,
    shares.map(({ principal }) => principal),
  );
  return shares.map(({ principal, criteria, filterOwnerId, visible }) => {
    const secret = filterOwnerId !== null && !canReadFilter(viewer, level, filterOwnerId, true);
    return {
      kind: 'share',
      id: printPrincipal(principal),
      reportId: null,
      name: nameOf(principal),
      problemWith: (fields) => shareProblem({ criteria, visible, secret }, fields),
    };
  });
}

async function loadReferences(
  { query }: Pick<Transaction, 'query'>,
  { tenantId, id, viewer }: PreviewedDataset,
): Promise<Dependent[]> {
  const references = await query<{
    alias: string;
    label: string;
    filter: ReferenceFilter;
    chips: Chip[];
    reportId: string;
    report: string;
    ownerId: string;
  }>({
    text: `
      select x.alias, x.label, x.filter, x.chips, r.id as "reportId", r.name as report, r.owner_id as "ownerId"
      from dws.dataset_reference x
      join dws.report r on r.id = x.report_id
      where x.tenant_id = $1 and x.dataset_id = $2
      order by r.name, r.id, x.alias`,
    values: [tenantId, id],
  });
  const shared = await loadSharedLevels(
    query,
    viewer,
    references.map(({ reportId }) => reportId),
  );
  return references.map(({ alias, label, reportId, report, ownerId, ...parts }, i) => ({
    kind: 'reference',
    id: alias,
    reportId,
    name: label,
    hidden: ownershipLevel(viewer, ownerId) === LEVEL.none && shared[i] === LEVEL.none,
    problemWith(fields) {
      const problem = referenceProblem(parts, fields);
      return problem && `In the report ${JSON.stringify(report)}: ${problem}`;
    },
  }));
}
