/**
 * Mutations that create credentials or sessions, manage users, teams or identity providers, or change what users may do.
 * Those of shares and owners have a name for each kind.
 */
const REFUSED: ReadonlySet<string> = new Set([
  'login',
  'startLogin',
  'finishLogin',
  'requestPasswordReset',
  'resetPassword',
  'changePassword',
  'createToken',
  'createIdentityProvider',
  'updateIdentityProvider',
  'deleteIdentityProvider',
  'createUser',
  'updateUser',
  'deleteUser',
  'setGlobalPermissions',
  'setSuperuser',
  'createTeam',
  'deleteTeam',
  'setTeamMember',
  'removeTeamMember',
  'setDatasetFieldSecurity',
]);
const SHARES_AND_OWNERS = /^(?:(?:un)?share[A-Z]\w*|set[A-Z]\w*Owner)$/;

/**
 * Returns whether handlers of apps may not run a mutation, with any rights. Owners and shares that other mutations
 * change are checked by `checkNoApp` where they are changed. See docs/contract.md#services-of-handlers.
 */
export const refusesApps = (mutation: string): boolean => REFUSED.has(mutation) || SHARES_AND_OWNERS.test(mutation);
