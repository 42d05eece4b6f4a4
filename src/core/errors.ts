import { shortenMessage, shortenName } from './shorten-message.ts';

/** Codes of the errors that clients see, with their meaning. See docs/contract/apis.md#errors. */
export const ERROR_CODES = {
  BAD_USER_INPUT: 'An invalid value, which the message names (400)',
  GRAPHQL_LIMIT: 'A document above a limit of depth, aliases, tokens or cost (400)',
  UNAUTHENTICATED: 'No valid credentials (401)',
  CREDITS_SPENT: 'The usage profile of the caller or agent leaves too few credits in this month (402)',
  FORBIDDEN: 'A missing permission, which the message names (403)',
  CONSENT_REQUIRED: 'The user has not granted the app what it does; `consent` names it and the page that asks (403)',
  NOT_FOUND: 'Nothing that the caller can see has this id (404)',
  METHOD_NOT_ALLOWED: 'The path has other methods, listed in `Allow` (405)',
  NOT_ACCEPTABLE: 'No media type of `Accept` is available (406)',
  CONFLICT: 'The state of the resource does not permit it (409)',
  CANCELLED: 'The operation was cancelled (409)',
  GONE: 'It has expired or was replaced (410)',
  PRECONDITION_FAILED: 'The resource has changed since the version of `If-Match` (412)',
  PAYLOAD_TOO_LARGE: 'A body, file or dataset above its maximum size (413)',
  UNSUPPORTED_MEDIA_TYPE: 'A body of another media type (415)',
  IDEMPOTENCY_KEY_REUSED: 'The idempotency key belongs to another request of the caller (422)',
  RATE_LIMITED: 'Too many calls; `Retry-After` names the seconds to wait (429)',
  INTERNAL: 'A failure of the service, logged under the `requestId` (500)',
  UPSTREAM_FAILED: 'A failure or timeout of a source, with its message (500)',
  UNAVAILABLE: 'A part of the service is occupied or does not respond; `Retry-After` names the seconds to wait (503)',
  TIMEOUT: 'A template, the printing of a PDF or the handler of an app took too long (504)',
} as const;
export type ErrorCode = keyof typeof ERROR_CODES;

/** The codes and their meanings as a Markdown list. */
export const ERROR_CODE_LIST = Object.entries(ERROR_CODES)
  .map(([code, meaning]) => `- \`${code}\`: ${meaning}.`)
  .join('\n');

/** One invalid value of the input. */
export interface ValidationIssue {
  /** Path of the argument, e.g. `['input', 'name']`. */
  path: (string | number)[];
  message: string;
  code: string;
  /** Place in the file that `path` names, from 1; null if it is unknown. Only of mistakes in files. */
  line?: number | null;
  column?: number | null;
}

/** An error for the client. Both APIs return its message, with quotes of the caller's input cut at 100 characters. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly validation?: ValidationIssue[];
  /** Response headers of the error, e.g. `Retry-After`. */
  readonly headers?: Record<string, string>;

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    more: { validation?: ValidationIssue[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(shortenMessage(message), { cause: more.cause });
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.validation = more.validation?.map(shortenIssue);
    this.headers = more.headers;
  }
}

const shortenIssue = ({ path, message, code, ...place }: ValidationIssue): ValidationIssue => ({
  path: path.map((key) => (typeof key === 'string' ? shortenName(key) : key)),
  message: shortenMessage(message),
  code,
  ...place,
});

/** Declares a kind of error by its status, code and message. Returns a function that creates errors of this kind. */
export const defineError =
  <D = void>(status: number, code: ErrorCode, message: (detail: D) => string) =>
  (detail: D, more?: ConstructorParameters<typeof ApiError>[3]) =>
    new ApiError(status, code, message(detail), more);

export const badInput = defineError(400, 'BAD_USER_INPUT', (message: string) => message);
export const graphqlLimit = defineError(400, 'GRAPHQL_LIMIT', (message: string) => message);
export const unauthenticated = defineError<string | null | void>(401, 'UNAUTHENTICATED', (reason) =>
  reason ? `Missing authentication. ${reason}` : 'Missing authentication',
);
export const wrongCredentials = defineError(401, 'UNAUTHENTICATED', () => 'Invalid username or password');
export const creditsSpent = defineError(402, 'CREDITS_SPENT', (message: string) => message);
export const forbidden = defineError(
  403,
  'FORBIDDEN',
  (d: { permission: string }) => `You lack the permission ${d.permission}`,
);
export const sessionRequired = defineError(
  403,
  'FORBIDDEN',
  () => 'This requires a session: log in instead of using a token',
);
export const appRefused = defineError(
  403,
  'FORBIDDEN',
  () =>
    'An app cannot create credentials, create or delete teams, manage users or identity providers, or change agents, apps, jobs, ' +
    'toolkits, what libraries sync, usage profiles, permissions, shares and owners',
);
export const refused = defineError(403, 'FORBIDDEN', (message: string) => message);
export const notFound = defineError(
  404,
  'NOT_FOUND',
  (d: { what: string; id: string }) => `There is no ${d.what} ${shortenName(d.id)}`,
);
export const noRoute = defineError(
  404,
  'NOT_FOUND',
  (d: { method: string; path: string }) => `There is no route ${d.method} ${shortenName(d.path)}`,
);
export const methodNotAllowed = defineError(
  405,
  'METHOD_NOT_ALLOWED',
  (d: { method: string; path: string }) => `${shortenName(d.path)} does not support ${d.method}`,
);
export const slugTaken = defineError(
  409,
  'CONFLICT',
  (d: { slug: string }) => `The slug "${d.slug}" is already in use`,
);
export const conflict = defineError(409, 'CONFLICT', (message: string) => message);
export const cancelled = defineError(409, 'CANCELLED', () => 'The operation was cancelled');
export const gone = defineError(410, 'GONE', (message: string) => message);
export const preconditionFailed = defineError(
  412,
  'PRECONDITION_FAILED',
  (d: { what: string }) => `The ${d.what} has changed since you read it`,
);
export const rangeNotSatisfiable = defineError(
  416,
  'BAD_USER_INPUT',
  (d: { size: number }) => `Range is not a part of the ${d.size} bytes`,
);
export const tooLarge = defineError(413, 'PAYLOAD_TOO_LARGE', (message: string) => message);
export const rateLimited = defineError(429, 'RATE_LIMITED', () => 'Too many requests');
export const tooMany = defineError(429, 'RATE_LIMITED', (message: string) => message);
export const upstreamFailed = defineError(500, 'UPSTREAM_FAILED', (message: string) => message);
export const timedOut = defineError(504, 'TIMEOUT', (message: string) => message);
export const unavailable = defineError(503, 'UNAVAILABLE', (message: string) => message);
/** Refuses work that adds content before the disk is full. The time is one in which an operator can act. */
export const diskLow = () =>
  unavailable("The service's disk is nearly full: it stores nothing new until there is space", {
    headers: { 'retry-after': '60' },
  });
export const diskFull = defineError(503, 'UNAVAILABLE', () => "The service's disk is full");
