import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isInputObjectType,
  isListType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
} from 'graphql';
import type { Endpoint } from '../../rest-bridge/bridge.ts';
import { ruleOf } from '../../src/core/input-rules.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';

/* Valid calls of any route and any root field, generated from the route table and the schema. */

/** Returns the kind whose single resource a path is below, e.g. `datasets` for `/datasets/:id/data`. */
export const kindOf = ({ row }: Endpoint): string | undefined => /^\/([\w-]+)\/:/.exec(row.path)?.[1];

/** Returns whether a call needs a value for an argument or input field. */
const isRequired = (element: GraphQLArgument | GraphQLInputField): boolean =>
  (String(element.type).endsWith('!') && element.defaultValue === undefined) || ruleOf(element)?.required === true;

/** Returns the path of a route with a value for its first parameter. The other parameters get unknown ids. */
export function pathOf({ row }: Endpoint, first: string): string {
  let parameterIndex = 0;
  return row.path.replace(/:\w+\*?/g, () => (parameterIndex++ === 0 ? encodeURIComponent(first) : UNKNOWN_ID));
}

/**
 * Returns a valid body of a row: required inputs with values of their types. Such a request can only be refused for
 * lack of access.
 */
export function bodyOf({ row, plan }: Endpoint): Record<string, unknown> | undefined {
  if (row.method === 'GET' || row.method === 'DELETE' || !plan) return undefined;
  const path = new Set([...row.path.matchAll(/:(\w+)/g)].map(([, name]) => name));
  const body: Record<string, unknown> = {};
  // An empty body is enough for an argument that takes the whole body.
  for (const { argument } of plan.slots.filter(
    (slot) => slot.argument.name !== row.options.body || isInputObjectType(getNamedType(slot.argument.type)),
  )) {
    const type = isListType(getNullableType(argument.type)) ? argument.type : getNamedType(argument.type);
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields())) {
        if (isRequired(field)) body[field.name] = sample(field.name, String(getNamedType(field.type)));
      }
    if (!isInputObjectType(type) && isRequired(argument) && !path.has(argument.name))
      body[argument.name] = isListType(getNullableType(type))
        ? [sample(argument.name, String(getNamedType(type)))].flat()
        : sample(argument.name, String(type));
  }
  return body;
}

/** Returns what a request to a row sends: a form with a file, or the JSON of `bodyOf`. */
export function sentTo(endpoint: Endpoint): FormData | Record<string, unknown> | undefined {
  if (endpoint.row.options.consumes !== 'multipart') return bodyOf(endpoint);
  const form = new FormData();
  form.append('file', new Blob(['a,b\n1,2\n'], { type: 'text/csv' }), 'a.csv');
  return form;
}

/** Values by type. */
const SAMPLES: Record<string, unknown> = {
  Int: 1,
  Float: 1,
  Boolean: true,
  JSONObject: {},
  JSON: {},
  Criteria: {},
  TeamRole: 'member',
  Theme: 'dark',
  DateTime: '2026-01-01T00:00:00.000Z',
};
/** Values by argument name. */
const NAMED: Record<string, unknown> = {
  q: 'private',
  groupBy: [],
  measures: [{ fn: 'count', as: 'n' }],
  format: 'csv',
  permissions: [],
  inputs: [],
  processors: [],
  password: 'correct horse battery',
  username: 'new-user',
  type: 'postgres',
  config: { host: '127.0.0.1', database: 'd', user: 'u' },
};
/** Values by type, where a name has different meanings. */
const ENUMS: Record<string, unknown> = {
  DatasourceLinkType: 'lookup',
  ShareLevel: 1,
  LibraryShareLevel: 1,
  VisualComponent: 'bar-chart',
  JobActionConditionType: 'success',
  TemplateFileRole: 'ASSET',
  UsageQuoteAction: 'image',
};
const sample = (name: string, type: string): unknown => ENUMS[type] ?? NAMED[name] ?? SAMPLES[type] ?? UNKNOWN_ID;

/** Returns the required query string of a GET; empty for other methods. */
export function queryOf({ row, plan }: Endpoint): string {
  if (row.method !== 'GET' || !plan) return '';
  const path = new Set([...row.path.matchAll(/:(\w+)/g)].map(([, name]) => name));
  const required = plan.slots.filter(
    ({ argument }) => isRequired(argument) && argument.name in NAMED && !path.has(argument.name),
  );
  return required.length
    ? `?${required.map(({ argument }) => `${argument.name}=${String(NAMED[argument.name])}`).join('&')}`
    : '';
}

/** Lists that may be empty, whose items have rules of their own. */
const EMPTY_LISTS: Record<string, string> = { inputs: '[]', processors: '[]' };

/** Returns a document that selects a root field with valid arguments. `own` has literals by argument name. */
export function documentOf(
  root: string,
  { name, args, type }: GraphQLField<unknown, unknown>,
  own: Record<string, string> = {},
): string {
  const required = args.filter((argument) => isRequired(argument) || own[argument.name] !== undefined);
  const literals = required.map(
    (argument) => `${argument.name}: ${own[argument.name] ?? EMPTY_LISTS[argument.name] ?? literal(argument.type)}`,
  );
  const selection = isCompositeType(getNamedType(type)) ? ' { __typename }' : '';
  return `${root.toLowerCase()} { ${name}${literals.length ? `(${literals.join(', ')})` : ''}${selection} }`;
}

function literal(type: GraphQLField<unknown, unknown>['args'][number]['type']): string {
  const named = getNamedType(type);
  if (isInputObjectType(named)) {
    const required = Object.values(named.getFields()).filter(isRequired);
    const object = `{ ${required.map((field) => `${field.name}: ${literal(field.type)}`).join(', ')} }`;
    return String(type).startsWith('[') ? `[${object}]` : object;
  }
  const values = 'getValues' in named ? named.getValues()[0]!.name : undefined;
  const one =
    values ??
    {
      Int: '1',
      Float: '1',
      Boolean: 'true',
      JSONObject: '{}',
      Criteria: '{}',
      JSON: '1',
      _Any: '{ __typename: "User" }',
      DateTime: '"2026-01-01T00:00:00.000Z"',
      FileContent: '"data:text/csv,a"',
    }[named.name] ??
    JSON.stringify(UNKNOWN_ID);
  return String(type).startsWith('[') ? `[${one}]` : one;
}
