/** Global permissions, granted to users (docs/contract/access.md#global-permissions). */
export const GLOBAL_PERMISSIONS = [
  'users:view',
  'users:create',
  'users:edit',
  'users:delete',
  'datasets:create',
  'reports:create',
  'assistants:create',
  'teams:create',
  'tenant:superuser',
  'jobs:create',
  'queries:create',
  'datasources:create',
  'templates:create',
  'apps:create',
  'libraries:create',
  'toolkits:create',
  'folders:create',
  'billing:manage',
  'usage:write',
  'ai:access',
] as const;
export type GlobalPermission = (typeof GLOBAL_PERMISSIONS)[number];

/** Global permissions of a new user. */
export const NEW_USER_PERMISSIONS: readonly GlobalPermission[] = [
  'datasets:create',
  'reports:create',
  'assistants:create',
  'jobs:create',
  'queries:create',
  'templates:create',
  'libraries:create',
  'folders:create',
  'ai:access',
];

/** The abilities on most kinds with owners. */
const OWNED_ABILITIES = ['read', 'write', 'edit', 'run', 'share', 'delete', 'assignTags', 'changeOwner'] as const;

/** The abilities on a resource, by its kind. A resource permission is `<kind>:<ability>`, e.g. `dataset:write`. */
export const ABILITIES = {
  dataset: [
    'read',
    'write',
    'edit',
    'refresh',
    'copy',
    'share',
    'delete',
    'addVisual',
    'deleteVisual',
    'assignTags',
    'changeOwner',
  ],
  datasource: OWNED_ABILITIES,
  query: OWNED_ABILITIES,
  report: OWNED_ABILITIES,
  app: OWNED_ABILITIES,
  job: OWNED_ABILITIES,
  template: OWNED_ABILITIES,
  library: ['read', 'write', 'edit', 'sync', 'share', 'assignTags', 'delete', 'changeOwner'],
  toolkit: OWNED_ABILITIES,
  assistant: OWNED_ABILITIES,
  agent: ['read', 'write', 'edit', 'run', 'delete'],
  integration: ['read', 'edit', 'delete'],
  aiProvider: ['read', 'edit', 'delete'],
  image: ['read', 'delete'],
  folder: ['read', 'write', 'delete'],
  suite: ['read', 'write', 'delete'],
  filter: ['read', 'edit', 'delete'],
  team: ['read', 'edit', 'delete', 'participate'],
  comment: ['read', 'delete'],
  tag: ['read', 'edit', 'delete'],
  user: ['read', 'edit', 'delete'],
} as const;

export type ResourceKind = keyof typeof ABILITIES;
export type Ability<K extends ResourceKind = ResourceKind> = (typeof ABILITIES)[K][number];
export type ResourcePermission = { [K in ResourceKind]: `${K}:${Ability<K>}` }[ResourceKind];

/** The permissions that `@Can` accepts. `authenticated` requires a caller. */
export type Permission = GlobalPermission | ResourcePermission | 'authenticated';

const globals: ReadonlySet<string> = new Set(GLOBAL_PERMISSIONS);
export const isGlobalPermission = (permission: string): permission is GlobalPermission => globals.has(permission);

/**
 * Levels of access to a resource, in ascending order (docs/contract/access.md#access). Shares store 1 to 3. Restricted
 * levels, which show a part of a dataset, rank below all others: a user with several shares has the highest
 * unrestricted level, if any.
 */
export const LEVEL = {
  none: 0,
  restrictedView: 0.25,
  restrictedEdit: 0.5,
  view: 1,
  edit: 2,
  admin: 3,
  /** Administrators of the team that owns the resource. No share grants this level. */
  teamAdmin: 3.5,
  owner: 4,
} as const;
export type Level = (typeof LEVEL)[keyof typeof LEVEL];
/** The levels that a share stores: 0 None, 1 View, 2 Edit, 3 Admin. */
export type ShareLevel = (typeof LEVEL)['none' | 'view' | 'edit' | 'admin'];
/** The levels of the shares of most kinds. */
export const SHARE_LEVELS: readonly ShareLevel[] = [LEVEL.view, LEVEL.edit, LEVEL.admin];

/** Names of levels in the explanation of access. A restricted level has the name of the share's level. */
const LEVEL_WORDS = {
  [LEVEL.none]: 'none',
  [LEVEL.restrictedView]: 'view',
  [LEVEL.restrictedEdit]: 'edit',
  [LEVEL.view]: 'view',
  [LEVEL.edit]: 'edit',
  [LEVEL.admin]: 'admin',
  [LEVEL.teamAdmin]: 'admin',
  [LEVEL.owner]: 'owner',
} as const;
export type LevelWord = (typeof LEVEL_WORDS)[Level];
export const levelWord = (level: Level): LevelWord => LEVEL_WORDS[level];

/** Returns whether a user of this level may read only a part of the resource, or nothing. */
export const isRestricted = (level: Level): boolean => level < LEVEL.view;

export const TEAM_ROLES = ['member', 'memberPlus', 'admin'] as const;
export type TeamRole = (typeof TEAM_ROLES)[number];

/** Level of a team role on the resources of the team (docs/contract/access.md#team-roles). */
export const LEVEL_OF_ROLE: Record<TeamRole, Level> = {
  member: LEVEL.view,
  memberPlus: LEVEL.edit,
  admin: LEVEL.teamAdmin,
};

/** Minimum level for each ability (docs/contract/access.md#shares). */
const REQUIRED_LEVEL: Record<Ability, Level> = {
  read: LEVEL.view,
  // Decided by team-access.ts.
  participate: LEVEL.view,
  copy: LEVEL.view,
  write: LEVEL.edit,
  edit: LEVEL.edit,
  run: LEVEL.edit,
  refresh: LEVEL.edit,
  sync: LEVEL.edit,
  addVisual: LEVEL.edit,
  deleteVisual: LEVEL.edit,
  assignTags: LEVEL.edit,
  share: LEVEL.admin,
  delete: LEVEL.admin,
  changeOwner: LEVEL.admin,
};

/**
 * Abilities that require another level on a kind than on the others. Only its owner deletes a job. The shares of a
 * library grant only reading. A user who may edit a job may change its owner. Agents and images are changed by users
 * who may write their assistant.
 */
const REQUIRED_LEVEL_OF_KIND: { readonly [permission: string]: Level } = {
  'job:delete': LEVEL.teamAdmin,
  'job:changeOwner': LEVEL.edit,
  'library:share': LEVEL.edit,
  'agent:delete': LEVEL.edit,
  'image:delete': LEVEL.edit,
};

/** Minimum level for the abilities of restricted shares (docs/contract/access.md#restricted-shares). */
const RESTRICTED_LEVEL: Partial<Record<Ability, Level>> = {
  read: LEVEL.restrictedView,
  addVisual: LEVEL.restrictedEdit,
};

const requiredLevel = (kind: string, ability: Ability): Level =>
  REQUIRED_LEVEL_OF_KIND[`${kind}:${ability}`] ?? REQUIRED_LEVEL[ability];

const levelSuffices = (level: Level, kind: string, ability: Ability): boolean =>
  level >= (isRestricted(level) ? (RESTRICTED_LEVEL[ability] ?? LEVEL.view) : requiredLevel(kind, ability));

/** Returns whether a level suffices for a permission, e.g. `dataset:write`. */
export function levelAllows(level: Level, permission: ResourcePermission): boolean {
  const [kind, ability] = permission.split(':') as [string, Ability];
  return levelSuffices(level, kind, ability);
}

/**
 * The permissions objects by kind and level. They are created once: creating one for each row was a tenth of a list's
 * cost.
 */
const abilities = Object.fromEntries(
  Object.entries(ABILITIES).map(([kind, words]) => [
    kind,
    new Map(
      Object.values(LEVEL).map((level) => [
        level,
        Object.freeze(Object.fromEntries(words.map((ability) => [ability, levelSuffices(level, kind, ability)]))),
      ]),
    ),
  ]),
);

/** Returns the permissions object for a resource: every ability of its kind, true or false. */
export const abilitiesAt = <K extends ResourceKind>(kind: K, level: Level): Readonly<Record<Ability<K>, boolean>> =>
  abilities[kind]!.get(level) as Record<Ability<K>, boolean>;
