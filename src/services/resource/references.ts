import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import { LEVEL, type ResourceKind } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import type { Model, ModelColumn, Relation } from '../../core/read/model.ts';
import { toMany } from '../../core/read/model.ts';
import { readable } from './access-filter.ts';
import { loadSharedLevels, ownershipLevel } from './access-level.ts';

/**
 * A way in which rows of one table use resources (docs/contract/resources.md#references). One entry adds the use to
 * `…/references` and, if it `blocks`, to the check before a deletion.
 */
interface ResourceUse {
  /** Kind of the using resource `u`. */
  kind: ResourceKind;
  /** SQL after `from`, with the using resource as `u`. */
  from: string;
  /** Kind of the used resource. */
  of: ResourceKind;
  /** Column with the id of the used resource. */
  used: string;
  /** Whether the used resource cannot be deleted. */
  blocks?: boolean;
  /** Condition for using resources that block but are not listed, because they are parts of another resource. */
  part?: string;
  /** SQL for the owner of the using resource. Default `u.owner_id`; null if all users of the tenant may read it. */
  owner?: 'null::text';
}

/** Joins the job `u` of a part `x`. Parts of a draft count as parts of its job. */
const JOB_OF_PART = 'join dws.job j on j.id = x.job_id join dws.job u on u.id = coalesce(j.parent_id, j.id)';
/** Joins the template `u` of a processor `x`. Processors of a draft count as processors of its template. */
const TEMPLATE_OF_PROCESSOR =
  'dws.template_processor x join dws.template t on t.id = x.template_id join dws.template u on u.id = coalesce(t.parent_id, t.id)';

/** Joins the datasource `x` of an app. */
const ON_DATASOURCE = 'join dws.datasource x on x.id = u.datasource_id and x.app_id is not null';

/** Joins the ids `x` in a list of an assistant. */
const withIdsOf = (column: string): string =>
  `dws.assistant u cross join lateral (select e::uuid as id from jsonb_array_elements_text(u.${column}) e) x`;

const USES: readonly ResourceUse[] = [
  { kind: 'query', from: `dws.saved_query u ${ON_DATASOURCE}`, of: 'app', used: 'x.app_id', blocks: true },
  {
    kind: 'dataset',
    from: `dws.dataset u ${ON_DATASOURCE}`,
    of: 'app',
    used: 'x.app_id',
    blocks: true,
    part: 'u.parent_id is not null',
  },
  { kind: 'query', from: 'dws.saved_query u', of: 'datasource', used: 'u.datasource_id', blocks: true },
  {
    kind: 'dataset',
    from: 'dws.dataset u',
    of: 'datasource',
    used: 'u.datasource_id',
    blocks: true,
    part: 'u.parent_id is not null',
  },
  {
    kind: 'dataset',
    from: 'dws.dataset u',
    of: 'query',
    used: 'u.query_id',
    blocks: true,
    part: 'u.parent_id is not null',
  },
  {
    kind: 'datasource',
    from: `
      dws.datasource_link l
      join dws.datasource u on u.id = l.source_datasource_id and u.id <> l.target_datasource_id`,
    of: 'datasource',
    used: 'l.target_datasource_id',
  },
  {
    kind: 'report',
    from: 'dws.dataset_reference x join dws.report u on u.id = x.report_id',
    of: 'dataset',
    used: 'x.dataset_id',
    blocks: true,
  },
  { kind: 'job', from: `dws.job_dataset x ${JOB_OF_PART}`, of: 'dataset', used: 'x.dataset_id', blocks: true },
  { kind: 'job', from: `dws.job_action x ${JOB_OF_PART}`, of: 'dataset', used: 'x.dataset_id', blocks: true },
  {
    kind: 'job',
    from: `dws.job_action_condition c join dws.job_action x on x.id = c.job_action_id ${JOB_OF_PART}`,
    of: 'dataset',
    used: 'c.dataset_id',
    blocks: true,
  },
  { kind: 'job', from: `dws.job_action x ${JOB_OF_PART}`, of: 'template', used: 'x.template_id', blocks: true },
  { kind: 'job', from: `dws.job_action x ${JOB_OF_PART}`, of: 'library', used: 'x.library_id', blocks: true },
  // A snapshot that is named can be deleted, which removes it from the rows that name it.
  {
    kind: 'report',
    from: `
      dws.dataset_reference_snapshot s
      join dws.dataset_reference x on x.id = s.reference_id
      join dws.report u on u.id = x.report_id`,
    of: 'dataset',
    used: 's.dataset_id',
  },
  {
    kind: 'job',
    from: `dws.job_dataset_snapshot s join dws.job_dataset x on x.id = s.reference_id ${JOB_OF_PART}`,
    of: 'dataset',
    used: 's.dataset_id',
  },
  // A rendering fails when its data was deleted.
  { kind: 'template', from: TEMPLATE_OF_PROCESSOR, of: 'dataset', used: 'x.dataset_id' },
  { kind: 'template', from: TEMPLATE_OF_PROCESSOR, of: 'query', used: 'x.query_id' },
  // A call of a tool fails when its query was deleted.
  {
    kind: 'toolkit',
    from: 'dws.toolkit_tool x join dws.toolkit u on u.id = x.toolkit_id',
    of: 'query',
    used: 'x.query_id',
  },
  { kind: 'assistant', from: withIdsOf('toolkit_ids'), of: 'toolkit', used: 'x.id', blocks: true },
  { kind: 'assistant', from: withIdsOf('dataset_ids'), of: 'dataset', used: 'x.id', blocks: true },
  {
    kind: 'library',
    from: 'dws.library u',
    of: 'integration',
    used: 'u.integration_id',
    blocks: true,
  },
  {
    kind: 'suite',
    from: 'dws.suite_member m join dws.suite u on u.id = m.suite_id',
    of: 'datasource',
    used: 'm.datasource_id',
    owner: 'null::text',
  },
];

/** Returns SQL for the using resources, one row for each resource that they use. */
const usersSql = (): string =>
  USES.map(
    ({ kind, from, used, part, owner = 'u.owner_id' }) => `
        select ${used} as used_id, u.tenant_id, u.id, '${kind}' as kind, u.name, ${owner} as owner_id
        from ${from}
        ${part ? `where not (${part})` : ''}`,
  ).join(' union ');

const column = (name: string, type: ModelColumn['type'], nullable = false): ModelColumn => ({
  column: name,
  type,
  nullable,
});

const readableUsers: AccessFilter = (viewer) => {
  const filter = readable(viewer);
  return filter && { sql: `r.owner_id is null or ${filter.sql}`, params: filter.params };
};

const referenceModel = (accessFilter?: AccessFilter): Model => ({
  name: 'Reference',
  label: 'reference',
  tenantColumn: 'tenant_id',
  table: `(${usersSql()})`,
  columns: {
    id: column('id', 'uuid'),
    kind: column('kind', 'text'),
    name: column('name', 'text'),
    ownerId: column('owner_id', 'text', true),
  },
  relations: {},
  required: {},
  filters: {},
  searchedFields: ['name'],
  sortable: {},
  defaultSort: 'kind,name',
  accessFilter,
});

const readableReferences = referenceModel(readableUsers);
const allReferences = referenceModel();

/** The resources that use a resource: the resources that the viewer may read, and all of them for counting only. */
export const REFERENCES: Readonly<Record<'references' | 'allReferences', Relation>> = {
  references: toMany(() => readableReferences, 'used_id', 'kind,name'),
  allReferences: toMany(() => allReferences, 'used_id', 'kind,name'),
};

interface ResourceUser extends Record<string, unknown> {
  id: string;
  kind: string;
  name: string;
  ownerId: string;
}

/** Maximum number of using resources that an error message names. */
const MAX_NAMED_USERS = 20;

/** Returns SQL for the resources of the tenant `$1` that use the resource `$2`; null if no use of its kind blocks. */
function blockingUsersSql(kind: ResourceKind): string | null {
  const uses = USES.filter(({ blocks, of }) => blocks && of === kind);
  if (uses.length === 0) return null;
  return uses
    .map(
      (use) => `
        select distinct u.id, '${use.kind}' as kind, u.name, u.owner_id as "ownerId"
        from ${use.from}
        where u.tenant_id = $1 and ${use.used} = $2`,
    )
    .join(' union ')
    .concat(' order by kind, name');
}

/** Returns SQL for whether anything uses the resource of a kind whose id is in `column`. */
export const isUsedSql = (kind: ResourceKind, column: string): string =>
  USES.filter(({ of }) => of === kind)
    .map(({ from, used }) => `exists (select from ${from} where ${used} = ${column})`)
    .join(' or ');

/**
 * Throws CONFLICT if a resource is in use. The message names the using resources that the caller may read, and the
 * number of the others.
 */
export async function checkUnused(ctx: Context, tx: Transaction, kind: ResourceKind, id: string): Promise<void> {
  const text = blockingUsersSql(kind);
  const users = text ? await tx.query<ResourceUser>({ text, values: [ctx.viewer.tenantId, id] }) : [];
  if (users.length === 0) return;
  const sharedLevels = await loadSharedLevels(
    tx.query,
    ctx.viewer,
    users.map((user) => user.id),
  );
  const named = users
    .filter(({ ownerId }, i) => ownershipLevel(ctx.viewer, ownerId) > LEVEL.none || sharedLevels[i]! > LEVEL.none)
    .slice(0, MAX_NAMED_USERS);
  const others = users.length - named.length;
  const parts = named.map((user) => `${user.kind} "${user.name}"`);
  if (others > 0) parts.push(`${others} more`);
  throw conflict(`The ${kind} is in use by ${parts.join(', ')}`);
}
