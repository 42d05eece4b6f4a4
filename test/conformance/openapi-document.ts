import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf, openapiOf } from '../../src/server/graphql/sdl.ts';

/** A JSON Schema, or any other part of the document. */
export type Schema = Record<string, any>;

/** A parameter in path or query. */
export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: Schema;
}

/** One operation of the document. */
export interface Operation {
  method: string;
  path: string;
  parameters: Parameter[];
  /** Schema of the body, and its media type; undefined for an operation that reads none. */
  body: { schema: Schema; mediaType: string; required: boolean } | undefined;
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

/** The OpenAPI document with validators of its schemas. */
export interface ApiDocument {
  operations: Operation[];
  /** Follows a reference. */
  resolve(schema: Schema): Schema;
  /** Returns whether a value is valid for a schema of a request. */
  accepts(schema: Schema, value: unknown): boolean;
  /** Returns why a response does not fit the document; undefined if it does. Keys that no schema lists are errors. */
  mismatch(operation: Operation, response: { status: number; headers: Headers; body: unknown }): string | undefined;
}

type Resolve = (schema: Schema) => Schema;

/** Returns the object with the keys of all parts. */
function mergeParts(parts: Schema[], resolve: Resolve): Schema {
  const resolved = parts.map(resolve);
  return {
    type: 'object',
    properties: Object.assign({}, ...resolved.map(({ properties }) => properties as object)) as Schema,
    required: resolved.flatMap(({ required }) => (required as string[] | undefined) ?? []),
  };
}

/** Returns a copy of the document in which every object has the listed keys only. */
function closeObjects(part: unknown, resolve: Resolve): unknown {
  if (Array.isArray(part)) return part.map((item) => closeObjects(item, resolve));
  if (typeof part !== 'object' || part === null) return part;
  const { allOf } = part as Schema;
  if (Array.isArray(allOf)) return closeObjects(mergeParts(allOf as Schema[], resolve), resolve);
  const copy: Schema = Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, closeObjects(value, resolve)]),
  );
  const isSchema = typeof copy['properties'] === 'object' && copy['properties'] !== null && 'type' in copy;
  return isSchema && typeof copy['type'] !== 'object' ? { additionalProperties: false, ...copy } : copy;
}

function createAjv(document: unknown): (schema: Schema) => ValidateFunction {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictTuples: false });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addVocabulary(['components']);
  ajv.addSchema({ $id: 'api', components: (document as Schema)['components'] });
  const compiled = new Map<string, ValidateFunction>();
  return (schema) => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/');
    let validate = compiled.get(text);
    if (!validate) compiled.set(text, (validate = ajv.compile(JSON.parse(text) as Schema)));
    return validate;
  };
}

/** Creates the document that the service serves. */
export async function createApiDocument(): Promise<ApiDocument> {
  const document = JSON.parse(JSON.stringify(openapiOf(endpointsOf(await createSchema())))) as Schema;
  const validatorOf = createAjv(document);
  const resolve = (schema: Schema): Schema => {
    const name = /^#\/components\/(\w+)\/(.+)$/.exec(String(schema['$ref']));
    return name ? resolve(document['components'][name[1]!][name[2]!] as Schema) : schema;
  };
  const closedDocument = closeObjects(document, resolve) as Schema;
  const closedValidatorOf = createAjv(closedDocument);
  const operations = Object.entries(document['paths'] as Record<string, Schema>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => toOperation(method.toUpperCase(), path, operation as Schema)),
  );
  return {
    operations,
    resolve,
    accepts: (schema, value) => validatorOf(schema)(value),
    mismatch({ responses }, { status, headers, body }) {
      const listed = responses[status] ?? responses[`${String(status)[0]}XX`];
      if (!listed) return `status ${status} is not listed`;
      const { content } = resolve(listed as Schema) as Operation['responses'][string];
      const mediaType = (headers.get('content-type') ?? '').split(';')[0]!;
      if (!content) return body === '' ? undefined : `status ${status} has a body`;
      const documented = content[mediaType] ?? content['*/*'];
      if (!documented) return `${mediaType} is not listed for status ${status}`;
      if (!documented.schema) return undefined;
      const validate = closedValidatorOf(closeObjects(documented.schema, resolve) as Schema);
      return validate(body) ? undefined : `status ${status}: ${JSON.stringify(validate.errors!.slice(0, 3))}`;
    },
  };
}

function toOperation(method: string, path: string, { parameters, requestBody, responses }: Schema): Operation {
  const [mediaType, content] = Object.entries((requestBody?.content ?? {}) as Record<string, Schema>)[0] ?? [];
  return {
    method,
    path,
    parameters: parameters as Parameter[],
    body:
      content === undefined
        ? undefined
        : { schema: content['schema'] as Schema, mediaType: mediaType!, required: requestBody.required === true },
    responses: responses as Operation['responses'],
  };
}
