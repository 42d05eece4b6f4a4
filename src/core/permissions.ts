/** Global permissions, granted to users (specification, "Authentication" 6, and contract 3). */
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

/** What a new user may do before anybody grants more. */
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

/** What can be done to one resource; the word before the colon is its kind. */
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
  datasource: ['read', 'write', 'edit', 'run', 'share', 'delete', 'assignTags', 'changeOwner'],
  query: ['read', 'write', 'edit', 'run', 'share', 'delete', 'assignTags', 'changeOwner'],
  report: ['read', 'write', 'edit', 'run', 'share', 'delete', 'assignTags', 'changeOwner'],
  app: ['read', 'write', 'edit', 'run', 'share', 'delete', 'assignTags', 'changeOwner'],
  folder: ['read', 'write', 'delete'],
  suite: ['read', 'write', 'delete'],
  filter: ['read', 'edit', 'delete'],
  team: ['read', 'edit', 'delete'],
  tag: ['read', 'edit', 'delete'],
  user: ['read', 'edit', 'delete'],
} as const;

export type ResourceKind = keyof typeof ABILITIES;
export type Ability<K extends ResourceKind = ResourceKind> = (typeof ABILITIES)[K][number];
export type ResourcePermission = { [K in ResourceKind]: `${K}:${Ability<K>}` }[ResourceKind];

/** Everything that `@Can` may name. `authenticated` asks for a caller and nothing more; `session` for one who is not a token. */
export type Permission = GlobalPermission | ResourcePermission | 'authenticated' | 'session';

const globals: ReadonlySet<string> = new Set(GLOBAL_PERMISSIONS);
export const isGlobalPermission = (permission: string): permission is GlobalPermission => globals.has(permission);

/**
 * Levels of access to one resource, as shares give them from 1 to 3. Owners stand above every share level; a team's members get the level of their role.
 * Shares that show a part of a dataset stand below all that show the whole: of somebody with several the highest of the unrestricted ones counts (contract 3).
 */
export const LEVEL = {
  none: 0,
  restrictedView: 0.25,
  restrictedEdit: 0.5,
  view: 1,
  edit: 2,
  admin: 3,
  owner: 4,
} as const;
export type Level = (typeof LEVEL)[keyof typeof LEVEL];
/** What a share may give: 1 View, 2 Edit, 3 Admin. */
export type ShareLevel = (typeof LEVEL)['view' | 'edit' | 'admin'];

/** Levels in words, as access is explained; those of parts are called by what their shares were given as. */
const LEVEL_WORDS = {
  [LEVEL.none]: 'none',
  [LEVEL.restrictedView]: 'view',
  [LEVEL.restrictedEdit]: 'edit',
  [LEVEL.view]: 'view',
  [LEVEL.edit]: 'edit',
  [LEVEL.admin]: 'admin',
  [LEVEL.owner]: 'owner',
} as const;
export type LevelWord = (typeof LEVEL_WORDS)[Level];
export const levelWord = (level: Level): LevelWord => LEVEL_WORDS[level];

/** Whether somebody at this level sees a part of the resource at most. */
export const isRestricted = (level: Level): boolean => level < LEVEL.view;

export const TEAM_ROLES = ['member', 'memberPlus', 'admin'] as const;
export type TeamRole = (typeof TEAM_ROLES)[number];

/** What a role lets its holder do with what the team owns (contract 3, "Team roles"). */
export const LEVEL_OF_ROLE: Record<TeamRole, Level> = {
  member: LEVEL.view,
  memberPlus: LEVEL.edit,
  admin: LEVEL.admin,
};

/** The least level that an ability asks for (contract 3, "Dataset levels" and the line on other kinds). */
const REQUIRED_LEVEL: Record<string, Level> = {
  read: LEVEL.view,
  copy: LEVEL.view,
  write: LEVEL.edit,
  edit: LEVEL.edit,
  run: LEVEL.edit,
  refresh: LEVEL.edit,
  addVisual: LEVEL.edit,
  deleteVisual: LEVEL.edit,
  assignTags: LEVEL.edit,
  share: LEVEL.admin,
  delete: LEVEL.admin,
  changeOwner: LEVEL.admin,
};

/** What shares of a part give, whatever their level. */
const RESTRICTED_LEVEL: Record<string, Level> = { read: LEVEL.restrictedView, addVisual: LEVEL.restrictedEdit };

const levelSuffices = (level: Level, ability: string): boolean =>
  level >= (isRestricted(level) ? (RESTRICTED_LEVEL[ability] ?? LEVEL.view) : REQUIRED_LEVEL[ability]!);

/** Whether a level suffices for what a permission names, e.g. `dataset:write`. */
export const levelAllows = (level: Level, permission: ResourcePermission): boolean =>
  levelSuffices(level, permission.slice(permission.indexOf(':') + 1));

/** Made once for each kind and level: a list shows one for every row, and making it anew was a tenth of its cost. */
const abilities = Object.fromEntries(
  Object.entries(ABILITIES).map(([kind, words]) => [
    kind,
    new Map(
      Object.values(LEVEL).map((level) => [
        level,
        Object.freeze(Object.fromEntries(words.map((ability) => [ability, levelSuffices(level, ability)]))),
      ]),
    ),
  ]),
);

/** The permissions object of a caller for one resource: every ability of its kind, true or false. */
export const abilitiesAt = <K extends ResourceKind>(kind: K, level: Level): Readonly<Record<Ability<K>, boolean>> =>
  abilities[kind]!.get(level) as Record<Ability<K>, boolean>;
