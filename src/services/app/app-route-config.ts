import type { RouteFolder } from './app-route-path.ts';

type Check = (value: unknown) => string | undefined;

const integer =
  (min: number, max: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max
      ? undefined
      : `must be an integer from ${min} to ${max}`;

const oneOf =
  (...values: string[]): Check =>
  (value) =>
    typeof value === 'string' && values.includes(value) ? undefined : `must be one of ${values.join(', ')}`;

const text =
  (pattern: RegExp, what: string): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value) ? undefined : `must be ${what}`;

const HEADER = text(/^[\w!#$%&'*+.^`|~-]{1,100}$/, 'the name of a header');
const ENV_NAME = text(/^[A-Za-z_]\w{0,254}$/, 'the name of an environment variable');

interface Shape {
  [key: string]: Check | Shape;
}

const COMMON: Shape = { timeout: integer(100, 120_000), maxBody: integer(1, 10_000_000) };
const SHAPES: Record<RouteFolder, Shape> = {
  server: COMMON,
  webhooks: {
    ...COMMON,
    verify: {
      scheme: oneOf('hmac', 'github', 'stripe', 'standard-webhooks'),
      secret: ENV_NAME,
      header: HEADER,
      algorithm: oneOf('sha1', 'sha256', 'sha384', 'sha512'),
      toleranceSeconds: integer(1, 86_400),
    },
    idempotency: { header: HEADER },
    token: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  },
};
/** Keys without which an object is invalid. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  'config.verify': ['scheme', 'secret'],
  'config.idempotency': ['header'],
};

/** Returns what is wrong with the `config` that a module exports, which is unchecked JSON. */
export const configProblems = (folder: RouteFolder, config: unknown): string[] =>
  problemsIn(SHAPES[folder], config, 'config');

function problemsIn(shape: Shape, value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path} must be an object`];
  const missing = (REQUIRED[path] ?? []).filter((key) => !Object.hasOwn(value, key));
  const problems = missing.map((key) => `${path}.${key} is missing`);
  for (const [key, inner] of Object.entries(value)) {
    const rule = Object.hasOwn(shape, key) ? shape[key]! : undefined;
    const name = `${path}.${key.slice(0, 50)}`;
    if (rule === undefined) problems.push(`${name} is not a setting: there are ${Object.keys(shape).join(', ')}`);
    else if (typeof rule !== 'function') problems.push(...problemsIn(rule, inner, name));
    else {
      const problem = rule(inner);
      if (problem !== undefined) problems.push(`${name} ${problem}`);
    }
  }
  return problems;
}
