import type { Context } from '../../core/context.ts';
import type { Query } from '../../core/database.ts';
import { forbidden, notFound } from '../../core/errors.ts';
import {
  isRestricted,
  LEVEL,
  LEVEL_OF_ROLE,
  levelAllows,
  levelWord,
  type Level,
  type LevelWord,
  type ShareLevel,
  type TeamRole,
} from '../../core/permissions.ts';
import { printPrincipal } from '../../core/viewer.ts';
import { findGrantee, accessLevelInTransaction, accessLevel, type Grantee } from '../resource/access-level.ts';
import { loadNames } from '../resource/activity.ts';
import { resolvePrincipal } from '../resource/resolve-ids.ts';
import { restrictions } from './dataset-restriction.ts';
import { shown, type ViewedDataset } from './dataset-view.ts';

export interface Named {
  /** As answers spell it. */
  id: string;
  name: string;
  type: 'user' | 'team';
  email: null;
  description: null;
}

/** One of the reasons why somebody has access. */
export interface AccessReason {
  via: 'superuser' | 'owner' | 'team' | 'share';
  level: LevelWord;
  /** Of a team that owns the dataset: the role in it. */
  role: TeamRole | null;
  /** The owner, or whom the share is for; null for superusers. */
  principal: Named | null;
  datasetFilterId: string | null;
  /** Name of that filter. */
  filter: string | null;
  visibleFields: string[] | null;
  message: string;
}

/** What somebody sees of a dataset and may do to it, and why. */
export interface DatasetAccess {
  principal: Named;
  /** The level itself; `level` is its word. */
  grade: Level;
  level: LevelWord;
  /** Shares show a part of the dataset. */
  partial: boolean;
  because: AccessReason[];
  /** Criteria of the rows that are shown; null for all, and where it is not told. */
  rowFilter: Record<string, unknown> | null;
  allRows: boolean;
  visibleFields: string[];
  /** Null where it is not told. */
  hiddenFields: string[] | null;
}

/** Explains somebody's access to a dataset that the viewer reads: their own to everybody, others' to those who may share it (403). 404 for a principal that there is not. */
export async function explain(
  ctx: Context,
  dataset: ViewedDataset,
  given: string | null | undefined,
): Promise<DatasetAccess> {
  const { tenantId, userId } = ctx.viewer;
  const self = `user:${userId}`;
  const principal = given ? await ctx.transaction((tx) => resolvePrincipal(tx, tenantId, given)) : self;
  const mayShare = levelAllows(await accessLevel(ctx, dataset), 'dataset:share');
  if (principal !== self && !mayShare) throw forbidden({ permission: 'dataset:share' });
  const grantee = await findGrantee(ctx, tenantId, principal);
  if (!grantee) throw notFound({ what: 'user', id: given ?? userId });

  const grade = await accessLevelInTransaction({ viewer: grantee }, ctx, { ...dataset, parentId: dataset.parent?.id });
  const root = dataset.parent ?? dataset;
  const [restriction] = isRestricted(grade) ? await restrictions(ctx.query, grantee, [root.id]) : [];
  const visible = shown(dataset.fields, restriction ?? null).map(({ name }) => name);
  const nameOf = await loadNames(ctx, tenantId, [principal, root.ownerId, ...grantee.principals]);
  const named = (key: string): Named => ({
    id: printPrincipal(key),
    name: nameOf(key),
    type: key.startsWith('team:') ? 'team' : 'user',
    email: null,
    description: null,
  });
  const because = [
    ...ofOwnership(grantee, root.ownerId, named),
    ...(await ofShares(ctx.query, grantee, root.id, named)),
  ];
  return {
    principal: named(principal),
    grade,
    level: levelWord(grade),
    partial: grade !== LEVEL.none && isRestricted(grade),
    because: mayShare
      ? because
      : because.map((reason) => ({
          ...reason,
          filter: null,
          visibleFields: reason.visibleFields?.filter((name) => visible.includes(name)) ?? null,
        })),
    rowFilter: mayShare ? anyOf(restriction?.rows ?? null) : null,
    allRows: !restriction?.rows,
    visibleFields: visible,
    hiddenFields:
      mayShare || !restriction
        ? dataset.fields.map(({ name }) => name).filter((name) => !visible.includes(name))
        : null,
  };
}

const anyOf = (rows: Record<string, unknown>[] | null): Record<string, unknown> | null =>
  rows?.length === 1 ? rows[0]! : rows && { $or: rows };

const NO_SHARE = { role: null, datasetFilterId: null, filter: null, visibleFields: null } as const;

function ofOwnership(
  { superuser, principals, teamRoles }: Grantee,
  ownerId: string,
  named: (key: string) => Named,
): AccessReason[] {
  const reasons: AccessReason[] = superuser
    ? [
        {
          ...NO_SHARE,
          via: 'superuser',
          level: 'owner',
          principal: null,
          message: 'Superusers may do everything in their tenant',
        },
      ]
    : [];
  if (!principals.includes(ownerId)) return reasons;
  const role = teamRoles[ownerId.slice('team:'.length)];
  const principal = named(ownerId);
  if (!ownerId.startsWith('team:') || !role)
    return [...reasons, { ...NO_SHARE, via: 'owner', level: 'owner', principal, message: `${principal.name} owns it` }];
  return [
    ...reasons,
    {
      ...NO_SHARE,
      via: 'team',
      level: levelWord(LEVEL_OF_ROLE[role]),
      role,
      principal,
      message: `The team ${principal.name} owns it, with the role ${role} in the team`,
    },
  ];
}

interface ShareRow extends Record<string, unknown> {
  principal: string;
  accessLevel: ShareLevel;
  datasetFilterId: string | null;
  filter: string | null;
  visibleFields: string[] | null;
}

async function ofShares(
  query: Query,
  { tenantId, principals }: Grantee,
  datasetId: string,
  named: (key: string) => Named,
): Promise<AccessReason[]> {
  const shares = await query<ShareRow>({
    text: `select s.principal, s.access_level as "accessLevel", s.dataset_filter_id as "datasetFilterId", f.name as filter, case when s.restrict_fields then s.visible_fields end as "visibleFields"
      from dws.share s left join dws.saved_filter f on f.id = s.dataset_filter_id where s.tenant_id = $1 and s.resource_id = $2 and s.principal = any($3) order by s.created_at, s.id`,
    values: [tenantId, datasetId, principals],
  });
  return shares.map(({ principal, accessLevel, ...part }) => {
    const whom = named(principal);
    const limits = [part.datasetFilterId && 'rows of a filter', part.visibleFields && 'some of the fields'].filter(
      Boolean,
    );
    const message = `It is shared with ${whom.type === 'team' ? `the team ${whom.name}` : whom.name}${limits.length > 0 ? `, ${limits.join(' and ')} only` : ''}`;
    return { via: 'share' as const, level: levelWord(accessLevel), role: null, principal: whom, ...part, message };
  });
}
