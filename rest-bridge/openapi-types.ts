import {
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
  parse,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type SelectionSetNode,
} from 'graphql';
import { restValuesOf } from './enums.ts';
import type { Json } from './route.ts';

/** JSON Schema (2020-12), as OpenAPI 3.1 uses it. */
export type JsonSchema = Json;

const SCALARS: Record<string, JsonSchema> = {
  ID: { type: 'string' },
  String: { type: 'string' },
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  DateTime: { type: 'string', format: 'date-time' },
  DateTimeISO: { type: 'string', format: 'date-time' },
  Date: { type: 'string', format: 'date' },
  JSON: {},
  JSONObject: { type: 'object' },
  Upload: { type: 'string', format: 'binary' },
};

const asNullable = (schema: JsonSchema): JsonSchema => {
  if (Object.keys(schema).length === 0) return schema;
  return typeof schema['type'] === 'string' && !('enum' in schema)
    ? { ...schema, type: [schema['type'], 'null'] }
    : { anyOf: [schema, { type: 'null' }] };
};
const withDescription = (schema: JsonSchema, description: string | null | undefined): JsonSchema =>
  description ? { ...schema, description } : schema;

/** The selection set of a selection's text; undefined for a leaf. */
export function selectionOf(text: string): SelectionSetNode | undefined {
  const definition = text === '' ? undefined : parse(`{ ${text} }`).definitions[0];
  return definition?.kind === 'OperationDefinition' ? definition.selectionSet : undefined;
}

/** JSON Schemas of GraphQL types, in REST's words; named ones are collected as components. */
export class SchemaComponents {
  readonly components: Record<string, JsonSchema> = {};

  /** Names a schema; the same name with another shape is told apart by `distinction`. */
  name(wanted: string, schema: JsonSchema, distinction: string): JsonSchema {
    const same = (name: string) => JSON.stringify(this.components[name]) === JSON.stringify(schema);
    const name = this.components[wanted] === undefined || same(wanted) ? wanted : `${wanted}_${distinction}`;
    this.components[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  }

  /** What an argument or input field takes. */
  input(type: GraphQLInputType): JsonSchema {
    const inner = getNullableType(type);
    const schema = isListType(inner)
      ? { type: 'array', items: this.input(inner.ofType as GraphQLInputType) }
      : isInputObjectType(inner)
        ? this.#inputObject(inner)
        : this.#leaf(inner as GraphQLNamedType);
    return isNonNullType(type) ? schema : asNullable(schema);
  }

  /** What a selection of a type answers. A selection of undefined is a leaf. */
  output(type: GraphQLOutputType, selection: SelectionSetNode | undefined): JsonSchema {
    const inner = getNullableType(type);
    const schema = isListType(inner)
      ? { type: 'array', items: this.output(inner.ofType as GraphQLOutputType, selection) }
      : selection
        ? this.object(inner as GraphQLNamedType, selection)
        : this.#leaf(inner as GraphQLNamedType);
    return isNonNullType(type) ? schema : asNullable(schema);
  }

  /** The properties that a selection answers of one object; `only` leaves out what is selected but not printed. */
  object(type: GraphQLNamedType, selection: SelectionSetNode, only?: readonly string[]): JsonSchema {
    const properties: Record<string, JsonSchema> = {};
    for (const node of selection.selections) {
      if (node.kind !== 'Field' || !(isObjectType(type) || isInterfaceType(type))) continue;
      const name = (node.alias ?? node.name).value;
      const field = type.getFields()[node.name.value];
      if (field && (only?.includes(name) ?? true))
        properties[name] = withDescription(this.output(field.type, node.selectionSet), field.description);
    }
    return withDescription(
      { type: 'object', properties, ...(isUnionType(type) ? {} : { required: Object.keys(properties) }) },
      type.description,
    );
  }

  #leaf(type: GraphQLNamedType): JsonSchema {
    if (!isEnumType(type)) return SCALARS[type.name] ?? withDescription({ type: 'string' }, type.description);
    const words = [...restValuesOf(type).values()];
    this.components[type.name] ??= withDescription(
      { ...(words.every((word) => typeof word === 'string') && { type: 'string' }), enum: words },
      type.description,
    );
    return { $ref: `#/components/schemas/${type.name}` };
  }

  #inputObject(
    type: GraphQLNamedType & {
      getFields(): Record<
        string,
        { type: GraphQLInputType; description?: string | null | undefined; defaultValue?: unknown }
      >;
    },
  ): JsonSchema {
    const ref = { $ref: `#/components/schemas/${type.name}` };
    if (this.components[type.name]) return ref;
    // The place is taken before the fields are looked at, for they may lead back here.
    this.components[type.name] = {};
    const fields = Object.entries(type.getFields());
    const properties = Object.fromEntries(
      fields.map(([name, field]) => [
        name,
        withDescription(withDefault(this.input(field.type), field.defaultValue), field.description),
      ]),
    );
    const required = fields
      .filter(([, field]) => isNonNullType(field.type) && field.defaultValue === undefined)
      .map(([name]) => name);
    this.components[type.name] = withDescription(
      { type: 'object', properties, ...(required.length > 0 && { required }) },
      type.description,
    );
    return ref;
  }
}

/** Default values are what they are inside: for enums that is REST's word. */
export const withDefault = (schema: JsonSchema, value: unknown): JsonSchema =>
  value === undefined || value === null || typeof value === 'object' ? schema : { ...schema, default: value };
