import { refused, type ApiError } from './errors.ts';
import type { Viewer } from './viewer.ts';

/**
 * What a run of code of an app may cause: calls of the API, statements, events, messages and runs of other handlers, which
 * all inherit it and never have more. Each service of handlers asks it once. See docs/contract.md#authority-of-handlers.
 */
export interface Authority {
  /** Scopes of the credential with which the first request came. */
  readonly scopes: Viewer['scopes'];
  /** Whether the first request is a GET with a session, which a link causes: it changes nothing. */
  readonly isSessionGet: boolean;
}

const READING_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Returns the authority of a request from outside. A request without a viewer is limited by nothing but its receiver. */
export const authorityOf = (viewer: Pick<Viewer, 'authMethod' | 'scopes'>, method: string): Authority => ({
  scopes: viewer.scopes,
  isSessionGet: viewer.authMethod === 'session' && READING_METHODS.has(method.toUpperCase()),
});

/** Returns what two authorities have in common. */
export const intersect = (one: Authority, other: Authority): Authority => ({
  scopes: new Set([...one.scopes].filter((scope) => other.scopes.has(scope))),
  isSessionGet: one.isSessionGet || other.isSessionGet,
});

/** Returns the error with which a run that lacks authority sends no event, notification or mail; undefined if it may. */
export function sendingIssue({ scopes, isSessionGet }: Authority): ApiError | undefined {
  if (!scopes.has('write')) return refused('This token lacks the scope write');
  return isSessionGet ? getChangesNothing() : undefined;
}

/** Returns the error with which a run that lacks authority sends no request with a method; undefined if it may. */
export const requestIssue = ({ isSessionGet }: Authority, method: string): ApiError | undefined =>
  isSessionGet && !READING_METHODS.has(method) ? getChangesNothing() : undefined;

const getChangesNothing = () => refused('A GET with a session changes nothing: the app must use another method');

/** Returns why the statements of a run only read; null if they may write. */
export const readOnlyReason = ({ scopes }: Authority): string | null =>
  scopes.has('write') ? null : 'This token lacks the scope write';
