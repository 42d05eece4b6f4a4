import type { Chip, ReferenceFilter } from '../../../entities/dataset-reference.ts';
import { ApiError } from '../../core/errors.ts';
import type { Field } from '../../core/fields.ts';
import { LEVEL, levelAllows, type Level } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { printPrincipal } from '../../core/viewer.ts';
import type { VisualComponent } from '../../core/visual/component.ts';
import type { VisualConfig } from '../../core/visual/config.ts';
import { planOf } from '../../core/visual/plan.ts';
import { criteriaOf } from '../report/dataset-reference-checks.ts';
import { ownershipLevel, loadSharedLevels, type Grantee } from '../resource/access-level.ts';
import { loadNames } from '../resource/activity.ts';
import { parseAggregation } from './dataset-aggregate.ts';
import { parseColumns } from './dataset-data.ts';
import { problemOf } from './saved-filter-criteria.ts';

/** Something that works with the fields of a dataset and would not with those that a refresh brings. */
export interface Break {
  kind: 'visual' | 'filter' | 'share' | 'reference';
  /** Of a share: whom it is for; of a reference: its alias in the report. */
  id: string;
  /** Of a reference; null of what belongs to the dataset. */
  reportId: string | null;
  name: string;
  problem: string;
}

export interface Impact {
  breaks: Break[];
  /** Further ones, which the viewer may not read. */
  hiddenBreaks: number;
}

/** Something that names fields of a dataset. */
export interface Dependant extends Omit<Break, 'problem'> {
  /** Why it does not work with such fields; null when it does. */
  problemWith(fields: readonly Field[]): string | null;
  /** The viewer may not read it. */
  hidden?: boolean;
}

/** What works with the fields before and not with those after. What is broken already is not listed. */
export function impactOn(dependants: readonly Dependant[], before: readonly Field[], after: readonly Field[]): Impact {
  const broken = dependants.flatMap(({ kind, id, reportId, name, hidden = false, problemWith }) => {
    const problem = problemWith(after);
    return problem === null || problemWith(before) !== null ? [] : [{ hidden, kind, id, reportId, name, problem }];
  });
  const seen = broken.filter(({ hidden }) => !hidden);
  return { breaks: seen.map(({ hidden: _hidden, ...one }) => one), hiddenBreaks: broken.length - seen.length };
}

/** Why the numbers of a visual cannot be asked for; null when they can. */
export const visualProblem = (
  component: VisualComponent,
  config: VisualConfig,
  given: readonly Field[],
): string | null =>
  refusalOf(() => {
    const fields = [...given];
    const plan = planOf(component, config, new Map(fields.map(({ name, type }) => [name, type])));
    if (plan.kind === 'rows') parseColumns({ fields }, plan);
    else parseAggregation({ fields }, { ...plan, measures: [plan.measure] });
  });

/** Why a reference of a report cannot be shown as its author meant it; null when it can. */
export const referenceProblem = (
  { filter, chips }: { filter: ReferenceFilter; chips: readonly Chip[] },
  fields: readonly Field[],
): string | null =>
  problemOf(criteriaOf(filter), fields, false) ??
  missing(
    chips.map(({ field }) => field),
    fields,
    'by which readers filter',
  );

/** Why a share does not show what it was given for; null when it does. Null criteria are all rows, null names all fields. Who does not read its filter is not told what it says. */
export const shareProblem = (
  {
    criteria,
    visible,
    secret,
  }: { criteria: Record<string, unknown> | null; visible: readonly string[] | null; secret: boolean },
  fields: readonly Field[],
): string | null =>
  (criteria && problemOf(criteria, fields, secret)) ?? missing(visible ?? [], fields, 'which it shows');

function missing(names: readonly string[], fields: readonly Field[], use: string): string | null {
  const name = names.find((one) => !fields.some((field) => field.name === one));
  return name === undefined ? null : `There is no field ${JSON.stringify(name)}, ${use}`;
}

function refusalOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.message;
  }
}

/** A dataset in a transaction, with the level that the viewer has on it: one that shows the whole of it. */
export interface Rehearsed {
  tenantId: string;
  id: string;
  viewer: Grantee;
  level: Level;
}

/** All that names fields of a dataset: its visuals, saved filters, shares that show a part, and references of reports. */
export const dependantsOf = async (tx: Pick<Transaction, 'query'>, dataset: Rehearsed): Promise<Dependant[]> => [
  ...(await visualsOf(tx, dataset)),
  ...(await filtersOf(tx, dataset)),
  ...(await sharesOf(tx, dataset)),
  ...(await referencesOf(tx, dataset)),
];

async function visualsOf({ query }: Pick<Transaction, 'query'>, { tenantId, id }: Rehearsed): Promise<Dependant[]> {
  const visuals = await query<{ id: string; name: string; component: VisualComponent; config: VisualConfig }>({
    text: `select id, name, component, config from dws.visual where tenant_id = $1 and dataset_id = $2 order by position`,
    values: [tenantId, id],
  });
  return visuals.map(({ component, config, ...visual }) => ({
    kind: 'visual',
    reportId: null,
    ...visual,
    problemWith: (fields) => visualProblem(component, config, fields),
  }));
}

async function filtersOf(
  { query }: Pick<Transaction, 'query'>,
  { tenantId, id, viewer, level }: Rehearsed,
): Promise<Dependant[]> {
  const filters = await query<{
    id: string;
    name: string;
    criteria: Record<string, unknown>;
    ownerId: string;
    used: boolean;
  }>({
    text: `select id, name, criteria, owner_id as "ownerId", exists (select from dws.share s where s.dataset_filter_id = f.id) as used
      from dws.saved_filter f where tenant_id = $1 and dataset_id = $2 order by name, id`,
    values: [tenantId, id],
  });
  return filters.map(({ criteria, ownerId, used, ...filter }) => ({
    kind: 'filter',
    reportId: null,
    ...filter,
    hidden: !readsFilter(viewer, level, ownerId, used),
    problemWith: (fields) => problemOf(criteria, fields, false),
  }));
}

/** As everywhere: filters are their owner's, those that a share uses also of who may share (saved-filter-model.ts). */
const readsFilter = (viewer: Grantee, level: Level, ownerId: string, used: boolean): boolean =>
  ownershipLevel(viewer, ownerId) > LEVEL.none || (used && levelAllows(level, 'dataset:share'));

interface SharedPart extends Record<string, unknown> {
  principal: string;
  criteria: Record<string, unknown> | null;
  filterOwnerId: string | null;
  visible: string[] | null;
}

async function sharesOf(
  tx: Pick<Transaction, 'query'>,
  { tenantId, id, viewer, level }: Rehearsed,
): Promise<Dependant[]> {
  const shares = await tx.query<SharedPart>({
    text: `select s.principal, f.criteria, f.owner_id as "filterOwnerId", case when s.restrict_fields and d.field_security_enabled then s.visible_fields end as visible
      from dws.share s join dws.dataset d on d.id = s.resource_id left join dws.saved_filter f on f.id = s.dataset_filter_id
      where s.tenant_id = $1 and s.resource_id = $2 and (s.dataset_filter_id is not null or s.restrict_fields) order by s.id`,
    values: [tenantId, id],
  });
  const nameOf = await loadNames(
    tx,
    tenantId,
    shares.map(({ principal }) => principal),
  );
  return shares.map(({ principal, criteria, filterOwnerId, visible }) => {
    const secret = filterOwnerId !== null && !readsFilter(viewer, level, filterOwnerId, true);
    return {
      kind: 'share',
      id: printPrincipal(principal),
      reportId: null,
      name: nameOf(principal),
      problemWith: (fields) => shareProblem({ criteria, visible, secret }, fields),
    };
  });
}

async function referencesOf(
  { query }: Pick<Transaction, 'query'>,
  { tenantId, id, viewer }: Rehearsed,
): Promise<Dependant[]> {
  const references = await query<{
    alias: string;
    label: string;
    filter: ReferenceFilter;
    chips: Chip[];
    reportId: string;
    report: string;
    ownerId: string;
  }>({
    text: `select x.alias, x.label, x.filter, x.chips, r.id as "reportId", r.name as report, r.owner_id as "ownerId" from dws.dataset_reference x join dws.report r on r.id = x.report_id
      where x.tenant_id = $1 and x.dataset_id = $2 order by r.name, r.id, x.alias`,
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
