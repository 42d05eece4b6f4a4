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

/** Parses a selection. Returns undefined for an empty one: the field is a leaf. */
export function selectionOf(text: string): SelectionSetNode | undefined {
  const definition = text === '' ? undefined : parse(`{ ${text} }`).definitions[0];
  return definition?.kind === 'OperationDefinition' ? definition.selectionSet : undefined;
}

/** Converts GraphQL types to JSON Schemas with REST values of enums. Collects the named ones as components. */
export class SchemaComponents {
  readonly schemas: Record<string, JsonSchema> = {};

  /** Adds a named schema. Returns a reference to it. If the name has another schema already, `_suffix` is appended. */
  name(wanted: string, schema: JsonSchema, suffix: string): JsonSchema {
    const isSame = (name: string) => JSON.stringify(this.schemas[name]) === JSON.stringify(schema);
    const name = this.schemas[wanted] === undefined || isSame(wanted) ? wanted : `${wanted}_${suffix}`;
    this.schemas[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  }

  /** Returns the schema of an argument or input field. */
  input(type: GraphQLInputType): JsonSchema {
    const inner = getNullableType(type);
    const schema = isListType(inner)
      ? { type: 'array', items: this.input(inner.ofType as GraphQLInputType) }
      : isInputObjectType(inner)
        ? this.#inputObject(inner)
        : this.#leaf(inner as GraphQLNamedType);
    return isNonNullType(type) ? schema : asNullable(schema);
  }

  /** Returns the schema of the result of a selection. Without a selection the type is a leaf. */
  output(type: GraphQLOutputType, selection: SelectionSetNode | undefined): JsonSchema {
    const inner = getNullableType(type);
    const schema = isListType(inner)
      ? { type: 'array', items: this.output(inner.ofType as GraphQLOutputType, selection) }
      : selection
        ? this.object(inner as GraphQLNamedType, selection)
        : this.#leaf(inner as GraphQLNamedType);
    return isNonNullType(type) ? schema : asNullable(schema);
  }

  /**
   * Returns the schema of a selected object. `only` names the selected fields that are presented; by default all are.
   */
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
    const values = [...restValuesOf(type).values()];
    this.schemas[type.name] ??= withDescription(
      { ...(values.every((value) => typeof value === 'string') && { type: 'string' }), enum: values },
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
    if (this.schemas[type.name]) return ref;
    // Set before the fields are converted, because they may refer to this type.
    this.schemas[type.name] = {};
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
    this.schemas[type.name] = withDescription(
      { type: 'object', properties, ...(required.length > 0 && { required }) },
      type.description,
    );
    return ref;
  }
}

/** Adds a default value. That of an enum is its internal value, which is the REST value. */
export const withDefault = (schema: JsonSchema, value: unknown): JsonSchema =>
  value === undefined || value === null || typeof value === 'object' ? schema : { ...schema, default: value };
