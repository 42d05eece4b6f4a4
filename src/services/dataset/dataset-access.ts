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
import { loadRestrictions } from '../resource/restriction.ts';
import { withoutHiddenFields, type ViewedDataset } from './dataset-view.ts';

interface AccessPrincipal {
  /** The id of a user, or `team:<id>`. */
  id: string;
  name: string;
  type: 'user' | 'team';
  email: null;
  description: null;
}

/** A reason for the access of a principal. */
export interface AccessReason {
  via: 'superuser' | 'owner' | 'team' | 'share';
  level: LevelWord;
  /** The role in the team that owns the dataset. */
  role: TeamRole | null;
  /** The owner, or the recipient of the share; null for superusers. */
  principal: AccessPrincipal | null;
  datasetFilterId: string | null;
  /** Name of that filter. */
  filter: string | null;
  visibleFields: string[] | null;
  message: string;
}

/** The access of a principal to a dataset, with its reasons. */
export interface DatasetAccess {
  principal: AccessPrincipal;
  /** The effective level; `level` is its word. */
  grade: Level;
  level: LevelWord;
  /** Whether access is restricted to some rows or fields. */
  partial: boolean;
  because: AccessReason[];
  /** Criteria of the visible rows; null for all rows, and for callers who may not see the criteria. */
  rowFilter: Record<string, unknown> | null;
  allRows: boolean;
  visibleFields: string[];
  /** Null for callers who may not see the names. */
  hiddenFields: string[] | null;
}

/**
 * Explains the access of a principal to a dataset that the viewer can read; by default the viewer's own access. Throws
 * FORBIDDEN for another principal without the permission `dataset:share`, and NOT_FOUND for an unknown principal.
 */
export async function explainAccess(
  ctx: Context,
  dataset: ViewedDataset,
  principalKey: string | null | undefined,
): Promise<DatasetAccess> {
  const { tenantId, userId } = ctx.viewer;
  const self = `user:${userId}`;
  const principal = principalKey ? await ctx.transaction((tx) => resolvePrincipal(tx, tenantId, principalKey)) : self;
  const mayShare = levelAllows(await accessLevel(ctx, dataset), 'dataset:share');
  if (principal !== self && !mayShare) throw forbidden({ permission: 'dataset:share' });
  const grantee = await findGrantee(ctx, tenantId, principal);
  if (!grantee) throw notFound({ what: 'user', id: principalKey ?? userId });

  const grade = await accessLevelInTransaction({ viewer: grantee }, ctx, { ...dataset, parentId: dataset.parent?.id });
  const root = dataset.parent ?? dataset;
  const [restriction] = isRestricted(grade) ? await loadRestrictions(ctx.query, grantee, [root.id]) : [];
  const visibleFields = withoutHiddenFields(dataset.fields, restriction ?? null).map(({ name }) => name);
  const describe = describePrincipals(await loadNames(ctx, tenantId, [principal, root.ownerId, ...grantee.principals]));
  const reasons = [
    ...ownershipReasons(grantee, root.ownerId, describe),
    ...(await shareReasons(ctx.query, grantee, root.id, describe)),
  ];
  const fieldNames = dataset.fields.map(({ name }) => name);
  return {
    principal: describe(principal),
    grade,
    level: levelWord(grade),
    partial: grade !== LEVEL.none && isRestricted(grade),
    because: mayShare ? reasons : reasons.map((reason) => withoutHidden(reason, visibleFields)),
    rowFilter: mayShare ? anyOf(restriction?.rows ?? null) : null,
    allRows: !restriction?.rows,
    visibleFields,
    hiddenFields: mayShare || !restriction ? fieldNames.filter((name) => !visibleFields.includes(name)) : null,
  };
}

type DescribePrincipal = (key: string) => AccessPrincipal;

const describePrincipals =
  (nameOf: (key: string) => string): DescribePrincipal =>
  (key) => ({
    id: printPrincipal(key),
    name: nameOf(key),
    type: key.startsWith('team:') ? 'team' : 'user',
    email: null,
    description: null,
  });

/** Removes from a reason the name of its filter and the names of hidden fields. */
const withoutHidden = (reason: AccessReason, visibleFields: readonly string[]): AccessReason => ({
  ...reason,
  filter: null,
  visibleFields: reason.visibleFields?.filter((name) => visibleFields.includes(name)) ?? null,
});

const anyOf = (rows: Record<string, unknown>[] | null): Record<string, unknown> | null =>
  rows?.length === 1 ? rows[0]! : rows && { $or: rows };

const NO_SHARE = { role: null, datasetFilterId: null, filter: null, visibleFields: null } as const;

const SUPERUSER_REASON: AccessReason = {
  ...NO_SHARE,
  via: 'superuser',
  level: 'owner',
  principal: null,
  message: 'Superusers have every permission in their tenant',
};

function ownershipReasons(
  { superuser, principals, teamRoles }: Grantee,
  ownerId: string,
  describe: DescribePrincipal,
): AccessReason[] {
  const reasons = superuser ? [SUPERUSER_REASON] : [];
  if (!principals.includes(ownerId)) return reasons;
  const role = teamRoles[ownerId.slice('team:'.length)];
  const principal = describe(ownerId);
  if (!ownerId.startsWith('team:') || !role)
    return [
      ...reasons,
      { ...NO_SHARE, via: 'owner', level: 'owner', principal, message: `${principal.name} owns the dataset` },
    ];
  return [
    ...reasons,
    {
      ...NO_SHARE,
      via: 'team',
      level: levelWord(LEVEL_OF_ROLE[role]),
      role,
      principal,
      message: `The team ${principal.name} owns the dataset; the role in the team is ${role}`,
    },
  ];
}

interface AccessShare extends Record<string, unknown> {
  principal: string;
  accessLevel: ShareLevel;
  datasetFilterId: string | null;
  filter: string | null;
  visibleFields: string[] | null;
}

async function shareReasons(
  query: Query,
  { tenantId, principals }: Grantee,
  datasetId: string,
  describe: DescribePrincipal,
): Promise<AccessReason[]> {
  const shares = await query<AccessShare>({
    text: `
      select s.principal, s.access_level as "accessLevel", s.dataset_filter_id as "datasetFilterId", f.name as filter,
        case when s.restrict_fields then s.visible_fields end as "visibleFields"
      from dws.share s
      left join dws.saved_filter f on f.id = s.dataset_filter_id
      where s.tenant_id = $1 and s.resource_id = $2 and s.principal = any($3)
      order by s.created_at, s.id`,
    values: [tenantId, datasetId, principals],
  });
  return shares.map(({ principal: key, accessLevel: level, ...restriction }) => {
    const principal = describe(key);
    const message = shareMessage(principal, restriction);
    return { via: 'share', level: levelWord(level), role: null, principal, ...restriction, message };
  });
}

function shareMessage(
  { type, name }: AccessPrincipal,
  { datasetFilterId, visibleFields }: Pick<AccessShare, 'datasetFilterId' | 'visibleFields'>,
): string {
  const limits = [datasetFilterId && 'the rows of a filter', visibleFields && 'some of the fields'].filter(Boolean);
  const recipient = type === 'team' ? `the team ${name}` : name;
  return `The dataset is shared with ${recipient}${limits.length > 0 ? `, limited to ${limits.join(' and ')}` : ''}`;
}
