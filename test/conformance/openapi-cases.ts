import fc from 'fast-check';
import { PASSWORD } from '../support/service.ts';
import type { ApiDocument, Operation, Parameter, Schema } from './openapi-document.ts';

/* Requests generated from the schemas of an operation. The same seed generates the same requests. */

const SEED = 13;

/** A generated request: body, query string, and what is special about it. */
export interface Case {
  name: string;
  query: string;
  body: unknown;
}

type Values = Record<string, unknown>;

/** Returns the schemas of a value that may be null, of each type and alternative. */
const alternatives = ({ resolve }: ApiDocument, schema: Schema): Schema[] => {
  const resolved = resolve(schema);
  const { anyOf, type } = resolved;
  if (Array.isArray(anyOf)) return (anyOf as Schema[]).map(resolve);
  if (!Array.isArray(type)) return [resolved];
  return (type as string[]).map((one) => ({ ...resolved, type: one }));
};

/** Generates valid values of a schema. */
function arbitraryOf(api: ApiDocument, schema: Schema): fc.Arbitrary<unknown> {
  // A schema that contains itself.
  if (schema['$ref'] === '#/components/schemas/Criteria')
    return fc.constantFrom({}, { a: 1 }, { $or: [{ a: { $gt: 1 } }, { b: null }] }, { $not: { a: { $in: ['x'] } } });
  const found = alternatives(api, schema);
  if (found.length > 1) return fc.oneof(...found.map((one) => arbitraryOf(api, one)));
  const one = found[0]!;
  if ('const' in one) return fc.constant(one['const']);
  if (Array.isArray(one['enum'])) return fc.constantFrom(...(one['enum'] as unknown[]));
  switch (one['type']) {
    case 'string':
      return textOf(api, one);
    case 'integer':
      return fc.integer({ min: one['minimum'] ?? -(2 ** 31), max: one['maximum'] ?? 2 ** 31 - 1 });
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(arbitraryOf(api, one['items'] as Schema), {
        minLength: one['minItems'] ?? 0,
        maxLength: Math.max(one['minItems'] ?? 0, Math.min(one['maxItems'] ?? 3, 3)),
      });
    case 'object':
      return objectOf(api, one);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function textOf(api: ApiDocument, schema: Schema): fc.Arbitrary<string> {
  const { format, pattern, minLength = 0, maxLength = 40 } = schema;
  if (format === 'date-time')
    return fc
      .date({ min: new Date('0001-01-01'), max: new Date('9998-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString());
  if (format === 'uuid') return fc.uuid();
  const size = { minLength, maxLength: Math.min(maxLength, minLength + 40) };
  const anyText = fc.string({ unit: 'grapheme', ...size });
  if (!pattern) return anyText;
  return fc
    .oneof(
      anyText,
      fc.stringMatching(/^[a-z][a-z0-9]{0,20}$/),
      fc.constantFrom('ann@example.com', 'https://login.example.com', 'openid email'),
    )
    .filter((text) => api.accepts({ ...schema, type: 'string' }, text));
}

function objectOf(api: ApiDocument, { properties, required = [] }: Schema): fc.Arbitrary<unknown> {
  if (!properties)
    return fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 });
  const own = ownProperties(properties as Values);
  return fc.record(Object.fromEntries(own.map(([name, one]) => [name, arbitraryOf(api, one)])), {
    requiredKeys: required as string[],
  });
}

const ownProperties = (properties: Values): [string, Schema][] =>
  (Object.entries(properties) as [string, Schema][]).filter(([, one]) => one['readOnly'] !== true);

/** Keys that a successful request needs although the document cannot require them. */
const SUFFICIENT: Record<string, Values> = {
  'POST /api/login': { username: 'admin', password: PASSWORD },
  'POST /api/login/{domain}': { username: 'admin', password: PASSWORD },
  'POST /api/datasources': { type: 'postgres', config: { host: '127.0.0.1', port: 1, database: 'd', user: 'u' } },
  'POST /api/integrations': { type: 'dropbox' },
  'POST /api/toolkits': { type: 'mcp-stdio', config: { command: 'npx' } },
  'POST /api/toolkit-parse-config': { config: { command: 'npx' } },
  'POST /api/schema/_check': { schema: 'type Query { me: String }' },
  'POST /api/jobs': { type: 'actions' },
  'POST /api/jobs/{id}/datasets': { alias: 'new' },
  'POST /api/jobs/{id}/actions': { type: 'notify', data: { recipients: ['admin'], message: 'Done' } },
  'PUT /api/queries/{id}': { query: 'select 1 as one' },
  'POST /api/datasets/{id}/_benchmark': { config: { iterations: 1, warmup: 0 } },
  'POST /api/datasets/{id}/_benchmark-internal': { config: { iterations: 1, warmup: 0 } },
};

/** Returns a request with required values only. `real` has values of keys that must name something that exists. */
export function minimalCase(api: ApiDocument, operation: Operation, real: Values): Case {
  const queryValues = operation.parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map((parameter): [string, unknown] => [parameter.name, real[parameter.name] ?? sample(api, parameter.schema)]);
  const body = minimalBody(api, operation, real);
  const name = `${operation.method} ${operation.path}`;
  // A dataset needs a query of its own or a saved one, which no keyword of JSON Schema says here.
  const more = name === 'POST /api/datasets' ? { queryId: real['queryId'] } : SUFFICIENT[name];
  return { name: 'minimal', query: toQuery(queryValues), body: body && { ...body, ...more } };
}

const sample = (api: ApiDocument, schema: Schema): unknown =>
  fc.sample(arbitraryOf(api, schema), { seed: SEED, numRuns: 1 })[0];

function minimalBody(api: ApiDocument, { body }: Operation, real: Values): Values | undefined {
  if (!body) return undefined;
  const schema = api.resolve(body.schema);
  if (!schema['properties']) return {};
  const required = (schema['required'] ?? []) as string[];
  const own = Object.fromEntries(
    required.map((name) => {
      const property = (schema['properties'] as Values)[name] as Schema;
      const known = real[name];
      return [name, known !== undefined && api.accepts(property, known) ? known : sample(api, property)];
    }),
  );
  return own;
}

const toQuery = (pairs: readonly (readonly [string, unknown])[]): string =>
  pairs.length === 0
    ? ''
    : `?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`;

/** Returns random valid requests. Keys that name something keep their real values. */
export function randomCases(api: ApiDocument, operation: Operation, real: Values, count: number): Case[] {
  const { body } = operation;
  const minimal = minimalCase(api, operation, real);
  const bodies = body ? fc.sample(arbitraryOf(api, body.schema), { seed: SEED, numRuns: count }) : [];
  const parameters = operation.parameters.filter((parameter) => parameter.in === 'query');
  const queries = fc.sample(queryOf(api, parameters), { seed: SEED, numRuns: parameters.length > 0 ? count : 0 });
  return Array.from({ length: Math.max(bodies.length, queries.length) }, (_, index) => ({
    name: `random ${index}`,
    query: index < queries.length ? toQuery(queries[index]!) : minimal.query,
    body: index < bodies.length ? withReal(api, body!.schema, bodies[index], real) : minimal.body,
  }));
}

/** Replaces values of keys that must name something, so that some requests get past the look-up. */
function withReal(api: ApiDocument, schema: Schema, body: unknown, real: Values): unknown {
  const { properties } = api.resolve(schema);
  if (!properties || typeof body !== 'object' || body === null) return body;
  const copy = { ...(body as Values) };
  for (const name of Object.keys(copy))
    if (real[name] !== undefined && api.accepts((properties as Values)[name] as Schema, real[name]))
      copy[name] = real[name];
  return copy;
}

function queryOf(api: ApiDocument, parameters: readonly Parameter[]): fc.Arbitrary<[string, unknown][]> {
  const record = fc.record(Object.fromEntries(parameters.map(({ name, schema }) => [name, arbitraryOf(api, schema)])), {
    requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name),
  });
  return record.map((values) =>
    Object.entries(values as Values).flatMap(([name, value]): [string, unknown][] =>
      Array.isArray(value) ? value.map((item) => [name, item]) : [[name, value]],
    ),
  );
}

/** Returns the values at the bounds of a schema: all are valid. */
function boundaries(api: ApiDocument, schema: Schema): unknown[] {
  return alternatives(api, schema).flatMap((one) => {
    const { type, minimum, maximum, minLength, maxLength, maxItems } = one;
    if (type === 'integer') return [minimum, maximum].filter((bound) => bound !== undefined);
    if (type === 'array' && maxItems !== undefined) return [[]];
    if (type !== 'string') return [];
    const lengths = [minLength, maxLength].filter((length) => length !== undefined && length < 5000) as number[];
    return lengths.map((length) => 'a'.repeat(length)).filter((text) => api.accepts(schema, text));
  });
}

/** Returns the values just outside of the bounds of a schema, and values of other types: all are invalid. */
function violations(api: ApiDocument, schema: Schema): unknown[] {
  const outside = alternatives(api, schema).flatMap((one): unknown[] => {
    const { type, minimum, maximum, minLength, maxLength, maxItems, minItems } = one;
    if (type === 'integer')
      return [minimum !== undefined ? minimum - 1 : [], maximum !== undefined ? maximum + 1 : [], 1.5].flat();
    if (type === 'array') {
      const [item] = fc.sample(arbitraryOf(api, one['items'] as Schema), { seed: SEED, numRuns: 1 });
      const lists: unknown[] = [[0], [null], [{ unknown: 1 }]];
      if (maxItems !== undefined && maxItems <= 2000) lists.push(Array.from({ length: maxItems + 1 }, () => item));
      if (minItems) lists.push([]);
      return [...lists, item];
    }
    if (type !== 'string') return [];
    return [
      ...(minLength ? ['a'.repeat(minLength - 1)] : []),
      ...(maxLength !== undefined && maxLength <= 20_000 ? ['a'.repeat(maxLength + 1)] : []),
      'no\u0000such value',
      'no such value',
    ];
  });
  return [...outside, 7, true, 'text', [], {}, null].filter((value) => !api.accepts(schema, value));
}

/** Every value of a form is a text, so that only texts out of bounds and malformed lists do not fit. */
const formViolations = (api: ApiDocument, schema: Schema): unknown[] =>
  violations(api, schema).filter((value) =>
    alternatives(api, schema).some(({ type }) => type === 'array')
      ? typeof value !== 'string' && value !== null
      : typeof value === 'string' && value !== '',
  );

const show = (value: unknown): string => JSON.stringify(value)?.slice(0, 40) ?? 'nothing';

/** Returns one request for each bound of each key. */
export function boundaryCases(api: ApiDocument, operation: Operation, real: Values): Case[] {
  const minimal = minimalCase(api, operation, real);
  return [
    ...bodyCases(api, operation, minimal, boundaries),
    ...queryCases(operation, minimal, (schema) => boundaries(api, schema)),
  ];
}

function bodyCases(
  api: ApiDocument,
  { body }: Operation,
  minimal: Case,
  valuesOf: (api: ApiDocument, schema: Schema) => unknown[],
): Case[] {
  const { properties } = body ? api.resolve(body.schema) : {};
  if (!properties) return [];
  return ownProperties(properties as Values).flatMap(([name, schema]) =>
    valuesOf(api, schema).map((value) => ({
      ...minimal,
      name: `body ${name}: ${show(value)}`,
      body: { ...(minimal.body as Values), [name]: value },
    })),
  );
}

function queryCases({ parameters }: Operation, minimal: Case, valuesOf: (schema: Schema) => unknown[]): Case[] {
  return parameters
    .filter((parameter) => parameter.in === 'query')
    .flatMap(({ name, schema }) =>
      valuesOf(schema).map((value) => ({
        ...minimal,
        name: `query ${name}: ${show(value)}`,
        query: withParameter(minimal.query, name, value),
      })),
    );
}

function withParameter(query: string, name: string, value: unknown): string {
  const others = query
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !pair.startsWith(`${name}=`));
  return `?${[...others, `${name}=${encodeURIComponent(String(value))}`].join('&')}`;
}

/** Returns the texts that no value of a parameter has. Lists and texts take any text. */
function textViolations(api: ApiDocument, schema: Schema): string[] {
  const { type, enum: words } = api.resolve(schema);
  const texts = violations(api, schema).flatMap((value) =>
    typeof value === 'number' || typeof value === 'string' ? [String(value)] : [],
  );
  if (type === 'integer') return texts.filter((text) => !api.accepts(schema, Number(text)) || text === '');
  if (words || type === 'string') return texts.filter((text) => !api.accepts(schema, text) && text !== '');
  return type === 'boolean' ? ['maybe', '1'] : [];
}

/** Returns requests that the document does not allow. */
export function invalidCases(api: ApiDocument, operation: Operation, real: Values): Case[] {
  const minimal = minimalCase(api, operation, real);
  const { body } = operation;
  const cases = [
    ...queryCases(operation, minimal, (schema) => textViolations(api, schema)),
    { ...minimal, name: 'unknown parameter', query: withParameter(minimal.query, 'unknownParameter', '1') },
    ...operation.parameters
      .filter((parameter) => parameter.in === 'query' && parameter.required)
      .map(({ name }) => ({
        ...minimal,
        name: `query without ${name}`,
        query: minimal.query.replace(new RegExp(`[?&]${name}=[^&]*`), ''),
      })),
  ];
  if (!body) return cases;
  const schema = api.resolve(body.schema);
  const isForm = body.mediaType === 'multipart/form-data';
  const bodies = [
    ...bodyCases(api, operation, minimal, isForm ? formViolations : violations),
    { ...minimal, name: 'unknown key', body: { ...(minimal.body as Values), unknownKey: 1 } },
    ...(isForm
      ? []
      : [
          { ...minimal, name: 'a list as body', body: [] },
          { ...minimal, name: 'a text as body', body: '"text"' },
        ]),
    ...((schema['required'] ?? []) as string[]).map((key) => {
      const { [key]: _, ...others } = minimal.body as Values;
      return { ...minimal, name: `body without ${key}`, body: others };
    }),
  ].filter((one) => typeof one.body === 'string' || !api.accepts(body.schema, one.body));
  return [...cases, ...bodies, ...(body.required ? [{ ...minimal, name: 'no body', body: undefined }] : [])];
}
