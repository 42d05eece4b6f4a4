/**
 * Mutations that create or end credentials and sessions, manage users, teams, identity providers, AI providers or
 * integrations, change what users may do or use, or move what they own. Those of shares and owners have a name for each
 * kind. Agents, apps and jobs act for their owner later, as credentials do, and agents call the tools of toolkits, so that
 * mutations that change them are refused, too. Deleting one gives no rights.
 * kind. Apps and jobs act for their owner later, as credentials do, and agents call the tools of toolkits, so that mutations
 * that change them are refused, too. Deleting one gives no rights.
 */
const REFUSED: ReadonlySet<string> = new Set([
  'login',
  'startLogin',
  'finishLogin',
  'requestPasswordReset',
  'resetPassword',
  'changePassword',
  'createToken',
  'deleteToken',
  'deleteSession',
  'createIdentityProvider',
  'updateIdentityProvider',
  'deleteIdentityProvider',
  'createIntegration',
  'updateIntegration',
  'deleteIntegration',
  'setLibraryIntegration',
  'createAiProvider',
  'updateAiProvider',
  'deleteAiProvider',
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
  'createApp',
  'updateApp',
  'setAppFile',
  'deleteAppFile',
  'deployApp',
  'migrateApp',
  'rollbackApp',
  'replayWebhookCall',
  'createJob',
  'updateJob',
  'editJob',
  'commitJobDraft',
  'createJobAction',
  'updateJobAction',
  'deleteJobAction',
  'setJobActionFile',
  'setJobActionOrder',
  'createJobActionCondition',
  'updateJobActionCondition',
  'deleteJobActionCondition',
  'createJobDataset',
  'updateJobDataset',
  'deleteJobDataset',
  'authorizeLibrary',
  'authorizeToolkit',
  'finishAuthorization',
  'disconnectLibrary',
  'disconnectToolkit',
  'approveToolkitTools',
  'updateToolkit',
  'createAgent',
  'updateAgent',
  'createUsageProfile',
  'updateUsageProfile',
  'setTeamUsageProfile',
  'setUserUsageProfile',
]);
const SHARES_AND_OWNERS = /^(?:(?:un)?share[A-Z]\w*|set[A-Z]\w*Owner)$/;

/**
 * Returns whether handlers of apps may not run a mutation, with any rights. Owners and shares that other mutations
 * change are checked by `checkNoApp` where they are changed. See docs/contract.md#services-of-handlers.
 */
export const refusesApps = (mutation: string): boolean => REFUSED.has(mutation) || SHARES_AND_OWNERS.test(mutation);
