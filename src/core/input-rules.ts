import type { ValidationIssue } from './errors.ts';

/**
 * Bounds of an input value beyond its GraphQL type: keywords of JSON Schema. They are declared once, with `@Rule`, and
 * are enforced in both APIs and printed in the OpenAPI document.
 */
export interface InputRule {
  minimum?: number;
  maximum?: number;
  /** Code points. With 1, a text of white space alone is refused too. */
  minLength?: number;
  /** Code points. */
  maxLength?: number;
  /** Regular expression of ECMAScript that the text must match. */
  pattern?: string;
  enum?: readonly string[];
  /** Printed only; `pattern` enforces it. */
  format?: 'uuid';
  /** Types that a JSON scalar may have. */
  type?: readonly ('string' | 'number' | 'boolean' | 'object' | 'null')[];
  minItems?: number;
  maxItems?: number;
  /** Rule of each item of a list. */
  items?: InputRule;
  /** Value that applies when the caller sends none. Not enforced: the service applies it. */
  default?: number;
  /** Whether null is refused, although GraphQL declares the value as optional. */
  notNull?: boolean;
  /** Whether the value must be sent, although GraphQL declares it as optional and it may be null. */
  required?: boolean;
  /** Message for a text that does not match, without the name of the value. Default: names the pattern. */
  patternMessage?: string;
}

const CONTROL = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f';
const NO_CONTROL = { patternMessage: 'must not contain control characters' };

/** A text that is not blank. The pattern never backtracks: it applies to texts of any length. */
export const textRule = (maxLength: number): InputRule => ({
  minLength: 1,
  maxLength,
  pattern: `^[^${CONTROL}\\S]*[^${CONTROL}\\s][^${CONTROL}]*$`,
  ...NO_CONTROL,
});
/** A text that may be empty. */
export const optionalTextRule = (maxLength: number): InputRule => ({
  maxLength,
  pattern: `^[^${CONTROL}]*$`,
  ...NO_CONTROL,
});
/** A whole number within bounds. */
export const intRule = (minimum: number, maximum?: number): InputRule => ({
  minimum,
  ...(maximum !== undefined && { maximum }),
});

/** Display names. */
export const NAME_RULE: InputRule = { ...textRule(255), notNull: true };
/** Descriptions. The empty text clears one. */
export const DESCRIPTION_RULE = optionalTextRule(10_000);
/** Slugs. See docs/contract/apis.md#identifiers. */
export const SLUG_RULE: InputRule = { minLength: 1, maxLength: 100, pattern: '^[a-z0-9][a-z0-9-]*$', notNull: true };
/** Names of events that handlers of apps raise. */
export const EVENT_NAME_RULE: InputRule = {
  minLength: 1,
  pattern: '^[\\w.:-]{1,100}$',
  patternMessage: 'must have 1 to 100 letters, digits and _ . : -',
};
/** Usernames and domains. See docs/contract/access.md#credentials. */
export const USERNAME_RULE: InputRule = { minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9][A-Za-z0-9_.@-]*$' };
/** Names of clients. */
export const CLIENT_NAME_RULE: InputRule = {
  minLength: 1,
  pattern: '^[\\w.:@-]{1,100}$',
  patternMessage: 'must have 1 to 100 letters, digits and _ . : @ -',
};
/** E-mail addresses. White space around one is removed, the empty text clears it. */
export const EMAIL_RULE: InputRule = {
  maxLength: 320,
  pattern: '^\\s*(?:[^\\s@]+@[^\\s@]+\\s*)?$',
  patternMessage: 'must be an e-mail address',
};
/** Passwords. See docs/contract/access.md#passwords. */
export const PASSWORD_RULE: InputRule = { minLength: 12, maxLength: 1024 };
/** Queries in SQL. */
export const QUERY_RULE: InputRule = textRule(200_000);
/** Names of query parameters. See docs/contract/datasets.md#parameters. */
export const PARAMETER_NAME_RULE: InputRule = { minLength: 1, pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,62}$' };
/** Names of inputs and processors of templates. See docs/contract/templates.md#data-of-templates. */
export const PART_NAME_RULE: InputRule = {
  minLength: 1,
  maxLength: 63,
  pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
  patternMessage: 'must be 1 to 63 letters, digits and _, and must not begin with a digit',
};
/** Ids that a client chooses. */
export const UUID_RULE: InputRule = {
  format: 'uuid',
  pattern: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
  patternMessage: 'must be a UUID',
};
/** URLs that the service itself calls. */
export const OUTBOUND_URL_RULE = {
  minLength: 1,
  maxLength: 500,
  pattern: '^https?://[^\\s?#@\\\\]+$',
  patternMessage: 'must be an https: URL (http: for hosts in OUTBOUND_ALLOW) without query, fragment and username',
} satisfies InputRule;
/** Names of operations that clients choose. */
export const PROGRESS_RULE: InputRule = {
  ...textRule(255),
  type: ['string', 'number'],
};
/** `limit` of a list. */
export const limitRule = (defaultLimit: number, maximum = 1000): InputRule => ({
  ...intRule(1, maximum),
  default: defaultLimit,
});
/** `start` of a list. */
export const START_RULE: InputRule = { ...intRule(0), default: 0 };
/** `sort` of a list. */
export const SORT_RULE: InputRule = { maxLength: 500 };

interface DeclaredRule {
  prototype: object;
  property: string | symbol;
  /** Index of a method's parameter; undefined for a property. */
  index: number | undefined;
  rule: InputRule;
}
const declared: DeclaredRule[] = [];

/**
 * Declares the rule of an input field, of an argument in an arguments class, or of a parameter with `@Arg`:
 * `@Rule(NAME_RULE)`. A field that a subclass declares again has the rule of its superclass.
 */
export const Rule =
  (rule: InputRule) =>
  (prototype: object, property: string | symbol | undefined, index?: unknown): void => {
    declared.push({ prototype, property: property!, index: typeof index === 'number' ? index : undefined, rule });
  };

/** Returns the rule that a class or one of its superclasses declares for a property or a parameter. */
export function findDeclaredRule(prototype: object, property: string, index?: number): InputRule | undefined {
  for (let at: object | null = prototype; at; at = Object.getPrototypeOf(at) as object | null) {
    const found = declared.find((one) => one.prototype === at && one.property === property && one.index === index);
    if (found) return found.rule;
  }
  return undefined;
}

/** Returns the rule of an argument or input field of the schema. */
export const ruleOf = (element: { extensions?: unknown }): InputRule | undefined =>
  (element.extensions as { rule?: InputRule } | undefined)?.rule;

/**
 * Returns the rule that a value violates, without the name of the value; undefined if it fits. Ignores items of lists.
 */
export function violation(rule: InputRule, value: unknown): string | undefined {
  if (value === undefined) return rule.required ? 'is required' : undefined;
  if (value === null) return rule.notNull ? 'must not be null' : undefined;
  if (rule.type && !rule.type.includes(jsonTypeOf(value))) return `must be ${rule.type.join(' or ')}`;
  if (typeof value === 'number') return numberViolation(rule, value);
  if (typeof value === 'string') return textViolation(rule, value);
  if (!Array.isArray(value)) return undefined;
  if (value.length < (rule.minItems ?? 0)) return `must have at least ${rule.minItems} item(s)`;
  return value.length > (rule.maxItems ?? Infinity) ? `must have at most ${rule.maxItems} items` : undefined;
}

type JsonType = NonNullable<InputRule['type']>[number];
const jsonTypeOf = (value: unknown): JsonType =>
  value === null ? 'null' : Array.isArray(value) ? ('array' as JsonType) : (typeof value as JsonType);

function numberViolation({ minimum, maximum = Infinity }: InputRule, value: number): string | undefined {
  if (minimum === undefined) return undefined;
  if (value >= minimum && value <= maximum && Number.isInteger(value)) return undefined;
  return `must be a whole number from ${minimum}${maximum === Infinity ? '' : ` to ${maximum}`}`;
}

const patterns = new Map<string, RegExp>();
function patternOf(source: string): RegExp {
  let pattern = patterns.get(source);
  if (!pattern) patterns.set(source, (pattern = new RegExp(source, 'u')));
  return pattern;
}

function textViolation(rule: InputRule, text: string): string | undefined {
  const { minLength = 0, maxLength = Infinity, pattern, patternMessage } = rule;
  if (minLength === 1 && text.trim() === '') return 'must not be empty';
  if (minLength > 1 && lengthOf(text) < minLength) return `must have at least ${minLength} characters`;
  if (text.length > maxLength && lengthOf(text) > maxLength) return `must have at most ${maxLength} characters`;
  if (rule.enum && !rule.enum.includes(text))
    return `must be one of ${rule.enum.join(', ')}, not ${JSON.stringify(text.slice(0, 100))}`;
  if (pattern === undefined || patternOf(pattern).test(text)) return undefined;
  return patternMessage ?? `must match ${pattern}`;
}

/** Returns the number of code points, as JSON Schema and Postgres count them. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** Returns a violation as an issue. */
export const toRuleIssue = (path: readonly (string | number)[], text: string): ValidationIssue => ({
  path: [...path],
  message: `${path.join('.')} ${text}`,
  code: 'invalid',
});
