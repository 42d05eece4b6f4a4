import { toApiError } from '../src/core/api-error.ts';
import { ApiError, type ValidationIssue } from '../src/core/errors.ts';
import { throwIssues } from '../src/core/input-checks.ts';
import type { Json } from './route.ts';

/**
 * A list of the input that is an object in REST, with the items by their field `key`. A text in place of an item is the
 * item with this field `short`.
 */
interface KeyedList {
  key: string;
  short: string;
}
/** Such lists by their keys in the body. */
export type KeyedLists = Readonly<Record<string, KeyedList>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns a body with lists in place of such objects. Throws BAD_USER_INPUT naming a value that is not such an object. */
export function toLists(keyed: KeyedLists, body: Json): Json {
  const lists = Object.entries(keyed)
    .filter(([name]) => body[name] !== undefined && body[name] !== null)
    .map(([name, list]) => [name, toList(name, list, body[name])]);
  return { ...body, ...Object.fromEntries(lists) };
}

function toList(name: string, { key, short }: KeyedList, items: unknown): Json[] {
  if (!isObject(items)) return refuse([name], 'must be an object');
  return Object.entries(items).map(([id, item]) => {
    if (typeof item === 'string') return { [short]: item, [key]: id };
    if (!isObject(item)) return refuse([name, id], 'must be a text or an object');
    if (key in item) return refuse([name, id, key], 'is unknown');
    return { ...item, [key]: id };
  });
}

function refuse(path: string[], problem: string): never {
  throwIssues([{ path, message: `${path.join('.')} ${problem}`, code: 'invalid' }]);
  throw new Error('unreachable');
}

/** Returns an error whose issues have the keys that the client sent in place of the positions in lists. */
export function withSentKeys(keyed: KeyedLists, body: unknown, error: unknown): unknown {
  const apiError = toApiError(error);
  if (!apiError?.validation || !isObject(body)) return error;
  const { status, code, message, validation } = apiError;
  const issues = validation.map((issue) => withSentKey(keyed, body, issue));
  const at = validation.findIndex((issue) => issue.message === message);
  return new ApiError(status, code, issues[at]?.message ?? message, { validation: issues, cause: error });
}

function withSentKey(keyed: KeyedLists, body: Json, issue: ValidationIssue): ValidationIssue {
  const [name, index, ...rest] = issue.path;
  if (typeof name !== 'string' || typeof index !== 'number' || !(name in keyed)) return issue;
  const id = Object.keys(body[name] as Json)[index]!;
  return {
    ...issue,
    path: [name, id, ...rest],
    message: issue.message.replace(`${name}.${index}`, () => `${name}.${id}`),
  };
}
