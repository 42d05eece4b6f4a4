import { missingScopes, type AppLimit, type AppScope } from './app-access.ts';
import { ApiError, refused } from './errors.ts';
import { NEW_USER_PERMISSIONS } from './permissions.ts';
import type { Viewer } from './viewer.ts';

/**
 * The authority of a run of app code: the calls of the API, statements, events, messages and runs of other handlers
 * that it may cause. These all inherit it and never have more. Each service of handlers asks it once. See
 * docs/contract/handlers.md#authority-of-handlers.
 */
export interface Authority {
  /** Scopes of the credential of the first request. */
  readonly scopes: Viewer['scopes'];
  /** That credential: once it has ended, the run causes nothing further. */
  readonly credential: Pick<Viewer, 'authMethod' | 'credentialId'>;
  /** Whether the first request is a GET with a session, which a link causes: it changes nothing. */
  readonly isSessionGet: boolean;
  /** The apps that act for a user who does not own them, each with that user's grant. All of them apply. */
  readonly limits: readonly AppLimit[];
}

/** The scopes by which an app receives data through the API. */
const RECEIVING_SCOPES: readonly AppScope[] = ['read', 'write'];
const READING_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const NEW_USER: ReadonlySet<string> = new Set(NEW_USER_PERMISSIONS);

/** Returns the authority of a request from outside, without limits of apps. */
export const authorityOf = (
  viewer: Pick<Viewer, 'authMethod' | 'credentialId' | 'scopes'>,
  method: string,
): Authority => ({
  scopes: viewer.scopes,
  credential: { authMethod: viewer.authMethod, credentialId: viewer.credentialId },
  isSessionGet: viewer.authMethod === 'session' && READING_METHODS.has(method.toUpperCase()),
  limits: [],
});

/** Returns the authority of a run that another run causes: the common part of both, with the first credential. */
export const intersect = (own: Authority, causing: Authority): Authority => ({
  scopes: new Set([...own.scopes].filter((scope) => causing.scopes.has(scope))),
  credential: causing.credential,
  isSessionGet: own.isSessionGet || causing.isSessionGet,
  limits: [...own.limits, ...causing.limits],
});

/** Refuses an action that a user has not granted to an app. The user can grant it at `url`. */
export class ConsentRequired extends ApiError {
  readonly consent: { appId: string; scopes: AppScope[]; url: string };

  constructor({ appId, url }: AppLimit, scopes: AppScope[]) {
    super(403, 'CONSENT_REQUIRED', `You have not granted the app: ${scopes.join(', ')}`);
    this.consent = { appId, scopes, url };
  }
}

/** Returns the error for a scope that an app lacks. A scope that it does not declare cannot be granted. */
function scopeIssue(limits: readonly AppLimit[], ...scopes: AppScope[]): ApiError | undefined {
  for (const limit of limits) {
    const missing = missingScopes(limit, scopes);
    const undeclared = missing.find((scope) => !limit.declared.scopes.includes(scope));
    if (undeclared) return refused(`The app does not declare the scope ${undeclared} of its access`);
    if (missing.length > 0) return new ConsentRequired(limit, missing);
  }
  return undefined;
}

/** Returns the limits of the apps that have read something with the rights of their callers. */
const receivers = ({ limits }: Authority): AppLimit[] => limits.filter(({ received }) => received.isSet);

/** Returns whether a run has called the API: its later calls may depend on the data. */
export const hasReceived = (authority: Authority): boolean => receivers(authority).length > 0;

/**
 * Returns the error for a run that may not use a service that sends something; undefined if it may. An event stays in
 * the service, so it needs no scope before the run has read something.
 */
export function sendingIssue(authority: Authority, service: 'emit' | 'notify' | 'email'): ApiError | undefined {
  const { scopes, isSessionGet, limits } = authority;
  if (!scopes.has('write')) return lacksWrite();
  if (isSessionGet) return getChangesNothing();
  return service === 'emit' ? keepingIssue(authority) : scopeIssue(limits, service);
}

/** Returns the error for a run that may not keep what it has read; undefined if it has read nothing or may. */
export const keepingIssue = (authority: Authority): ApiError | undefined => scopeIssue(receivers(authority), 'keep');

/**
 * Returns whether a run may read data that an app may not keep. Its end and its calls can depend on that data: only its
 * caller may see what it occupies. See docs/contract/handlers.md#private-runs.
 */
export const isPrivate = ({ limits }: Pick<Authority, 'limits'>): boolean =>
  limits.some(
    ({ granted: { scopes } }) => !scopes.includes('keep') && RECEIVING_SCOPES.some((scope) => scopes.includes(scope)),
  );

/** Returns the error for a run that may not send a request with this method anywhere; undefined if it may. */
export const requestIssue = ({ isSessionGet }: Authority, method: string): ApiError | undefined =>
  isSessionGet && !READING_METHODS.has(method) ? getChangesNothing() : undefined;

/** Returns the error for a run that may not call the API with this method; undefined if it may. */
export const apiIssue = ({ limits }: Authority, method: string): ApiError | undefined =>
  scopeIssue(limits, READING_METHODS.has(method) ? 'read' : 'write');

/**
 * Returns the error for a run that may not let the service connect to a server that users name; undefined if it may.
 */
export const connectingIssue = (authority: Authority): ApiError | undefined => scopeIssue(receivers(authority), 'send');

/** Returns the error for a run that may not call another host; undefined if it may, or has read nothing. */
function outsideIssue(authority: Authority, url: string): ApiError | undefined {
  const host = URL.parse(url)?.host ?? '';
  for (const limit of receivers(authority)) {
    const { declared, granted } = limit;
    if (granted.scopes.includes('send') && granted.hosts.includes(host)) continue;
    if (!declared.hosts.includes(host)) return refused('The app does not declare this host of its access');
    return scopeIssue([limit], 'send') ?? new ConsentRequired(limit, ['send']);
  }
  return undefined;
}

/**
 * Sends a request of a run to another host. Once the run has received data that the host may not get, the request ends
 * with the error of `outsideIssue`. Otherwise the run could choose the time of that end by the data, and the author
 * would see it at the host.
 */
export async function sendOutside<T>(
  authority: Authority,
  { url, signal }: { url: string; signal: AbortSignal },
  send: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const refusal = outsideIssue(authority, url);
  if (refusal) throw refusal;
  const ending = new AbortController();
  const sent = send(AbortSignal.any([signal, ending.signal]));
  const sending = {
    async endUnlessGranted() {
      const issue = outsideIssue(authority, url);
      if (!issue) return;
      ending.abort(issue);
      await sent.catch(() => {});
    },
  };
  const removals = authority.limits.map(({ received }) => received.send(sending));
  try {
    return await sent;
  } finally {
    for (const remove of removals) remove();
  }
}

/**
 * Records that a run calls the API with the rights of its caller: what it sends from now on may contain what it has
 * read. Before that, its use of the database ends where it may not keep anything.
 */
export async function markReceived({ limits }: Authority): Promise<void> {
  await Promise.all(
    limits.map((limit) => limit.received.set({ mayKeep: missingScopes(limit, ['keep']).length === 0 })),
  );
}

/** Calls a function before a run receives something that it may not keep. */
export function beforeReceiving({ limits }: Authority, end: () => Promise<void>): void {
  for (const { received } of limits) received.before(end);
}

/** The permissions of a browser for a response that contains what a run has read. */
export interface Confinement {
  /** Hosts from which it may load parts of the page, as the user has granted. */
  hosts: readonly string[];
  /** Whether requests to the app may contain what was read. */
  mayKeep: boolean;
}

/**
 * Returns the permissions of a browser for the response of a run; undefined if the run has read nothing or owns what it
 * reads.
 */
export function confinementOf(authority: Authority): Confinement | undefined {
  const [first, ...others] = receivers(authority);
  if (!first) return undefined;
  const sendsTo = ({ granted }: AppLimit) => (granted.scopes.includes('send') ? granted.hosts : []);
  return {
    hosts: sendsTo(first).filter((host) => others.every((limit) => sendsTo(limit).includes(host))),
    mayKeep: !keepingIssue(authority),
  };
}

/**
 * Returns the caller of the API for a run: limited to its scopes, and without global permissions that were not granted.
 */
export function limitViewer(viewer: Viewer, { scopes, limits }: Authority): Viewer {
  if (limits.every(({ granted }) => granted.scopes.includes('admin')))
    return { ...viewer, scopes: limitScopes(scopes, limits) };
  return {
    ...viewer,
    scopes: limitScopes(scopes, limits),
    superuser: false,
    permissions: new Set([...viewer.permissions].filter((permission) => NEW_USER.has(permission))),
  };
}

const limitScopes = (scopes: Viewer['scopes'], limits: readonly AppLimit[]): Viewer['scopes'] =>
  new Set(
    [...scopes].filter((scope) => limits.every(({ granted }) => (granted.scopes as readonly string[]).includes(scope))),
  );

const lacksWrite = () => refused('This token lacks the scope write');

const getChangesNothing = () => refused('A GET with a session changes nothing: the app must use another method');

/** Returns why the statements of a run only read; null if they may write. */
export const readOnlyReason = ({ scopes }: Authority): string | null =>
  scopes.has('write') ? null : lacksWrite().message;
