const CREDENTIALS = 'logins, passwords and sessions: a repetition must prove the credentials again';
const READS = 'it reads and stores nothing';

/** Mutations that ignore an idempotency key, and the reasons. */
export const IGNORES_KEY: Readonly<Record<string, string>> = {
  login: CREDENTIALS,
  startLogin: CREDENTIALS,
  finishLogin: CREDENTIALS,
  logout: CREDENTIALS,
  changePassword: CREDENTIALS,
  requestPasswordReset: CREDENTIALS,
  resetPassword: CREDENTIALS,
  finishAuthorization: 'the state of the authorization can be used once',
  previewUpload: READS,
  queryDatasource: READS,
  runDataset: READS,
  runSavedQuery: READS,
  testDatasource: READS,
};

/** Returns whether a mutation runs once for each idempotency key. */
export const runsOnce = (mutation: string): boolean => !Object.hasOwn(IGNORES_KEY, mutation);

/** Mutations whose effect is outside of their transactions, and the reasons. Their keys are stored before they run. */
export const RESERVES_KEY: Readonly<Record<string, string>> = {
  authorizeLibrary: 'the state of the authorization is stored by a statement of its own',
  authorizeToolkit: 'the state of the authorization is stored by a statement of its own',
  replayWebhookCall: 'the effect is what the handler of the app does',
};
