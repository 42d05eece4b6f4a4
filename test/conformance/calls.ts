import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isInputObjectType,
  isListType,
  type GraphQLField,
} from 'graphql';
import type { Endpoint } from '../../rest-bridge/bridge.ts';

/* How any route and any root field is called, made from the route table and the schema alone. */

/** An id that nothing has. */
export const UNKNOWN = '01900000-0000-7000-8000-000000000000';

/** The kind whose single resource a path is below, e.g. `datasets` for `/datasets/:id/data`. */
export const kindOf = ({ row }: Endpoint): string | undefined => /^\/([\w-]+)\/:/.exec(row.path)?.[1];

/** The route with a value in its first parameter; the others get ids that nothing has. */
export function pathOf({ row }: Endpoint, first: string): string {
  let place = 0;
  return row.path.replace(/:\w+\*?/g, () => (place++ === 0 ? encodeURIComponent(first) : UNKNOWN));
}

/** A body that the row takes: required inputs with values of their type, so that what is refused is refused for the rights. */
export function bodyOf({ row, plan }: Endpoint): Record<string, unknown> | undefined {
  if (row.method === 'GET' || row.method === 'DELETE' || !plan) return undefined;
  const path = new Set([...row.path.matchAll(/:(\w+)/g)].map(([, name]) => name));
  const body: Record<string, unknown> = {};
  // What takes the body as a whole is satisfied by an empty one.
  for (const { argument } of plan.slots.filter(
    (slot) => slot.argument.name !== row.options.body || isInputObjectType(getNamedType(slot.argument.type)),
  )) {
    const type = isListType(getNullableType(argument.type)) ? argument.type : getNamedType(argument.type);
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields())) {
        if (String(field.type).endsWith('!') && field.defaultValue === undefined)
          body[field.name] = sample(field.name, String(getNamedType(field.type)));
      }
    if (
      !isInputObjectType(type) &&
      String(argument.type).endsWith('!') &&
      argument.defaultValue === undefined &&
      !path.has(argument.name)
    )
      body[argument.name] = sample(argument.name, String(type));
  }
  return body;
}

const SAMPLES: Record<string, unknown> = {
  Int: 1,
  Float: 1,
  Boolean: true,
  JSONObject: {},
  JSON: {},
  TeamRole: 'member',
  Theme: 'dark',
  DateTime: '2026-01-01T00:00:00.000Z',
};
const NAMED: Record<string, unknown> = {
  q: 'private',
  groupBy: [],
  measures: [{ fn: 'count', as: 'n' }],
  format: 'csv',
  permissions: [],
  password: 'correct horse battery',
  username: 'somebody-new',
  type: 'postgres',
  config: { host: '127.0.0.1', database: 'd', user: 'u' },
};
/** Where a name that others have too means something of its own. */
const ENUMS: Record<string, unknown> = { DatasourceLinkType: 'lookup', VisualComponent: 'bar-chart' };
const sample = (name: string, type: string): unknown => ENUMS[type] ?? NAMED[name] ?? SAMPLES[type] ?? UNKNOWN;

/** What a GET must be asked with. */
export function queryOf({ row, plan }: Endpoint): string {
  if (row.method !== 'GET' || !plan) return '';
  const path = new Set([...row.path.matchAll(/:(\w+)/g)].map(([, name]) => name));
  const required = plan.slots.filter(
    ({ argument }) =>
      String(argument.type).endsWith('!') &&
      argument.defaultValue === undefined &&
      argument.name in NAMED &&
      !path.has(argument.name),
  );
  return required.length
    ? `?${required.map(({ argument }) => `${argument.name}=${String(NAMED[argument.name])}`).join('&')}`
    : '';
}

/** A document that calls a field with arguments of the right types, or those given as literals. */
export function documentOf(
  root: string,
  { name, args, type }: GraphQLField<unknown, unknown>,
  own: Record<string, string> = {},
): string {
  const needed = args.filter((argument) => String(argument.type).endsWith('!') && argument.defaultValue === undefined);
  const given = needed.map((argument) => `${argument.name}: ${own[argument.name] ?? literal(argument.type)}`);
  const selection = isCompositeType(getNamedType(type)) ? ' { __typename }' : '';
  return `${root.toLowerCase()} { ${name}${given.length ? `(${given.join(', ')})` : ''}${selection} }`;
}

function literal(type: GraphQLField<unknown, unknown>['args'][number]['type']): string {
  const named = getNamedType(type);
  if (isInputObjectType(named)) {
    const required = Object.values(named.getFields()).filter(
      (field) => String(field.type).endsWith('!') && field.defaultValue === undefined,
    );
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
      JSON: '1',
      _Any: '{ __typename: "User" }',
      DateTime: '"2026-01-01T00:00:00.000Z"',
      Upload: '"data:text/csv,a"',
    }[named.name] ??
    JSON.stringify(UNKNOWN);
  return String(type).startsWith('[') ? `[${one}]` : one;
}
