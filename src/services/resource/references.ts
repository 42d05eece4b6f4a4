import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import { LEVEL, type ResourceKind } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import type { Column, Model, Relation } from '../../core/read/model.ts';
import { toMany } from '../../core/read/model.ts';
import { readable } from './access-filter.ts';
import { ownershipLevel, loadSharedLevels } from './access-level.ts';

/** That rows of one table use resources. One line makes a use known to `…/references` and, where it `blocks`, to deletion. */
interface ResourceUse {
  /** The kind of the user `u`. */
  kind: ResourceKind;
  from: string;
  /** The column that holds the id of what is used. */
  used: string;
  /** What it uses cannot be deleted. */
  blocks?: boolean;
  /** Users that block but are not listed, being a part of another. */
  part?: string;
  /** By default `u.owner_id`; null when everybody in the tenant reads it. */
  owner?: 'null::text';
}

const USES: readonly ResourceUse[] = [
  { kind: 'query', from: 'dws.saved_query u', used: 'u.datasource_id', blocks: true },
  { kind: 'dataset', from: 'dws.dataset u', used: 'u.datasource_id', blocks: true, part: 'u.parent_id is not null' },
  { kind: 'dataset', from: 'dws.dataset u', used: 'u.query_id', blocks: true, part: 'u.parent_id is not null' },
  {
    kind: 'datasource',
    from: 'dws.datasource_link l join dws.datasource u on u.id = l.source_datasource_id and u.id <> l.target_datasource_id',
    used: 'l.target_datasource_id',
  },
  {
    kind: 'report',
    from: 'dws.dataset_reference x join dws.report u on u.id = x.report_id',
    used: 'x.dataset_id',
    blocks: true,
  },
  {
    kind: 'suite',
    from: 'dws.suite_member m join dws.suite u on u.id = m.suite_id',
    used: 'm.datasource_id',
    owner: 'null::text',
  },
];

/** The users of resources, each once for whatever it uses. */
const usersSql = (uses: readonly ResourceUse[], parts: boolean): string =>
  uses
    .map(
      ({ kind, from, used, part, owner = 'u.owner_id' }) =>
        `select ${used} as used_id, u.tenant_id, u.id, '${kind}' as kind, u.name, ${owner} as owner_id from ${from}${part && !parts ? ` where not (${part})` : ''}`,
    )
    .join(' union ');

const column = (name: string, type: Column['type'], nullable = false): Column => ({ column: name, type, nullable });

const readableUsers: AccessFilter = (viewer) => {
  const rule = readable(viewer);
  return rule && { sql: `r.owner_id is null or ${rule.sql}`, params: rule.params };
};

const referenceModel = (rights?: AccessFilter): Model => ({
  name: 'Reference',
  what: 'reference',
  tenant: 'tenant_id',
  table: `(${usersSql(USES, false)})`,
  columns: {
    id: column('id', 'uuid'),
    kind: column('kind', 'text'),
    name: column('name', 'text'),
    ownerId: column('owner_id', 'text', true),
  },
  relations: {},
  required: {},
  filters: {},
  text: ['name'],
  sortable: {},
  order: 'kind,name',
  accessFilter: rights,
});

const [visible, all] = [referenceModel(readableUsers), referenceModel()];

/** What uses a resource: as far as the viewer may read it, and all of it for counting alone. */
export const REFERENCES: Readonly<Record<'references' | 'allReferences', Relation>> = {
  references: toMany(() => visible, 'used_id', 'kind,name'),
  allReferences: toMany(() => all, 'used_id', 'kind,name'),
};

interface ResourceUser extends Record<string, unknown> {
  id: string;
  kind: string;
  name: string;
  ownerId: string;
}

/** How many users of a resource an error names. */
const NAMED = 20;

const BLOCKING = usersSql(
  USES.filter(({ blocks }) => blocks),
  true,
);

/** 409 listing what uses a resource, by kind and name; of what the caller may not read only the number is told. */
export async function checkUnused(ctx: Context, tx: Transaction, kind: ResourceKind, id: string): Promise<void> {
  const users = await tx.query<ResourceUser>({
    text: `select id, kind, name, owner_id as "ownerId" from (${BLOCKING}) u where tenant_id = $1 and used_id = $2 order by kind, name`,
    values: [ctx.viewer.tenantId, id],
  });
  if (users.length === 0) return;
  const shared = await loadSharedLevels(
    tx.query,
    ctx.viewer,
    users.map((user) => user.id),
  );
  const readableOnes = users
    .filter(({ ownerId }, i) => ownershipLevel(ctx.viewer, ownerId) > LEVEL.none || shared[i]! > LEVEL.none)
    .slice(0, NAMED);
  const others = users.length - readableOnes.length;
  const parts = [
    ...readableOnes.map(({ kind: of, name }) => `${of} "${name}"`),
    ...(others > 0 ? [`${others} more`] : []),
  ];
  throw conflict(`The ${kind} is in use by ${parts.join(', ')}`);
}
