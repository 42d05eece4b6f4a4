import { CombinedGraphQLErrors, ServerError } from '@apollo/client';

interface ValidationIssue {
  path: (string | number)[];
  message: string;
}

/** An error that the service reports by REST. */
export class ServiceError extends Error {}

/** Returns what an app shows for an error: one line for each of its causes. */
export function explain(error: unknown): string[] {
  if (CombinedGraphQLErrors.is(error)) return error.errors.flatMap(explainError);
  if (error instanceof ServiceError) return [error.message];
  if (ServerError.is(error)) return [`The service responded with ${error.statusCode}`];
  return [`The service cannot be reached: ${String(error)}`];
}

/** The `code` says what to do, the `message` is for the user. */
function explainError({ message, path, extensions }: CombinedGraphQLErrors['errors'][number]): string[] {
  switch (extensions?.['code']) {
    case 'NOT_FOUND':
      return [`Not found: ${path?.join('.')}: ${message}`];
    case 'BAD_USER_INPUT':
      return issuesOf(extensions, message).map((issue) => `Invalid: ${issue}`);
    case 'FORBIDDEN':
      return [`Forbidden: ${message}`];
    case 'UNAUTHENTICATED':
      return ['Log in first'];
    default:
      return [`${String(extensions?.['code'])}: ${message}`];
  }
}

/** Returns the invalid values, each with its path, e.g. to show next to an input of a form; else the message. */
const issuesOf = ({ validation }: Record<string, unknown>, message: string): string[] =>
  (validation as ValidationIssue[] | undefined)?.map((issue) => `${issue.path.join('.')}: ${issue.message}`) ?? [
    message,
  ];
