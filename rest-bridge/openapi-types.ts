import {
  getNullableType,
  GraphQLNonNull,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
  parse,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type SelectionSetNode,
} from 'graphql';
import { capitalize } from '../src/core/capitalize.ts';
import { ruleOf, type InputRule } from '../src/core/input-rules.ts';
import type { JsonScalarExtensions } from '../src/core/query-language.ts';
import { restValuesOf } from './enums.ts';
import { asInteger } from './openapi-shared.ts';
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
  JSONObject: { type: 'object', additionalProperties: true },
  FileContent: { type: 'string', format: 'binary' },
};
/** GraphQL's integers have 32 bits. */
const INPUT_INT: JsonSchema = { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };

/** Keywords of a rule that JSON Schema does not have. */
type RuleKeyword = Exclude<keyof InputRule, 'notNull' | 'required' | 'patternMessage' | 'items'>;
const KEYWORDS: readonly RuleKeyword[] = [
  'type',
  'format',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'enum',
  'minItems',
  'maxItems',
  'default',
];
const keywordsOf = (rule: InputRule | undefined): JsonSchema =>
  rule ? Object.fromEntries(KEYWORDS.filter((name) => name in rule).map((name) => [name, rule[name]])) : {};

/** Returns whether a type is a resource with an id of its own. */
const isNode = (type: GraphQLNamedType): boolean =>
  isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node');

const asNullable = (schema: JsonSchema): JsonSchema => {
  if (Object.keys(schema).length === 0) return schema;
  return 'type' in schema && !('enum' in schema) && !('$ref' in schema)
    ? { ...schema, type: [schema['type'], 'null'].flat() }
    : { anyOf: [schema, { type: 'null' }] };
};
const withDescription = (schema: JsonSchema, description: string | null | undefined): JsonSchema =>
  description ? { ...schema, description } : schema;

/** Returns a text that is equal for schemas which differ only in the order of keys. */
const toComparable = (schema: JsonSchema): string =>
  JSON.stringify(schema, (key, value: unknown) => {
    if (key === 'required' && Array.isArray(value)) return (value as string[]).toSorted();
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  });

/** Parses a selection. Returns undefined for an empty one: the field is a leaf. */
export function selectionOf(text: string): SelectionSetNode | undefined {
  const definition = text === '' ? undefined : parse(`{ ${text} }`).definitions[0];
  return definition?.kind === 'OperationDefinition' ? definition.selectionSet : undefined;
}

/** Converts GraphQL types to JSON Schemas with REST values of enums. Collects the named ones as components. */
export class SchemaComponents {
  readonly schemas: Record<string, JsonSchema> = {};
  /** Names that are too general, because schemas of several kinds differ. */
  readonly differing: ReadonlySet<string>;
  /** Names of the schemas of each family, by their text. */
  readonly #families: Record<string, Map<string, string>> = {};

  constructor(differing: ReadonlySet<string>) {
    this.differing = differing;
  }

  /**
   * Adds a schema of a family, e.g. of a type, with the first of the names that is free, and returns a reference to it.
   * A schema that its family has already is not added again.
   */
  name(family: string, names: readonly string[], schema: JsonSchema): JsonSchema {
    const text = toComparable(schema);
    const known = (this.#families[family] ??= new Map<string, string>());
    let name = known.get(text);
    if (name === undefined) {
      name = names.find((one) => this.schemas[one] === undefined);
      if (name === undefined) throw new Error(`There are other schemas called ${names.join(', ')}`);
      known.set(text, name);
      this.schemas[name] = schema;
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** Returns the schema of an argument or input field with its rule. */
  input(type: GraphQLInputType, rule?: InputRule): JsonSchema {
    const inner = getNullableType(type);
    const schema = isListType(inner)
      ? { type: 'array', items: this.input(inner.ofType as GraphQLInputType, rule?.items) }
      : isInputObjectType(inner)
        ? this.#inputObject(inner)
        : (inner as GraphQLNamedType).name === 'Int'
          ? INPUT_INT
          : this.#leaf(inner as GraphQLNamedType);
    const bounded = rule ? { ...schema, ...keywordsOf(rule) } : schema;
    return isNonNullType(type) || rule?.notNull ? bounded : asNullable(bounded);
  }

  /**
   * Returns the properties of an input object, and the names of the required ones. A form has no null. The keys of
   * `without` are left out.
   */
  inputFields(
    type: GraphQLInputObjectType,
    { hasNull = true, without = {} }: { hasNull?: boolean; without?: object } = {},
  ): { properties: Record<string, JsonSchema>; required: string[] } {
    const fields = Object.values(type.getFields()).filter(({ name }) => !(name in without));
    const properties = fields.map((field) => {
      const fieldType = hasNull ? field.type : new GraphQLNonNull(getNullableType(field.type));
      const schema = withDefault(this.input(fieldType, ruleOf(field)), field.defaultValue);
      return [field.name, withDescription(schema, field.description)] as const;
    });
    const required = fields.filter(
      (field) => (isNonNullType(field.type) && field.defaultValue === undefined) || ruleOf(field)?.required,
    );
    return { properties: Object.fromEntries(properties), required: required.map(({ name }) => name) };
  }

  /**
   * Returns the schema of the result of a selection. Without a selection the type is a leaf. A selected object is named
   * after its type, a part of it `…Summary`, another part after `place`, where it is selected.
   */
  output(type: GraphQLOutputType, selection: SelectionSetNode | undefined, place: string): JsonSchema {
    const inner = getNullableType(type);
    const schema = isListType(inner)
      ? { type: 'array', items: this.output(inner.ofType as GraphQLOutputType, selection, place) }
      : selection
        ? this.#selected(inner as GraphQLNamedType, selection, place)
        : this.#leaf(inner as GraphQLNamedType);
    return isNonNullType(type) ? schema : asNullable(schema);
  }

  #selected(type: GraphQLNamedType, selection: SelectionSetNode, place: string): JsonSchema {
    const names = [
      ...(isNode(type) || this.differing.has(type.name) ? [] : [type.name]),
      `${type.name}Summary`,
      place,
      `${place}Value`,
    ];
    return this.name(type.name, names, this.object(type, selection));
  }

  /**
   * Returns the schema of a selected object. `only` names the selected fields that are presented; by default all are.
   * `optional` names those that may be absent.
   */
  object(
    type: GraphQLNamedType,
    selection: SelectionSetNode,
    only?: readonly string[],
    optional: readonly string[] = [],
  ): JsonSchema {
    const properties: Record<string, JsonSchema> = {};
    for (const node of selection.selections) {
      if (node.kind !== 'Field' || !(isObjectType(type) || isInterfaceType(type))) continue;
      const name = (node.alias ?? node.name).value;
      const field = type.getFields()[node.name.value];
      if (!field || only?.includes(name) === false) continue;
      const output = this.output(field.type, node.selectionSet, type.name + capitalize(name));
      const schema = field.extensions['isWholeNumber'] ? asInteger(output) : output;
      properties[name] = withDescription(
        field.extensions['isUuid'] ? { ...schema, format: 'uuid' } : schema,
        field.description,
      );
    }
    const required = Object.keys(properties).filter((name) => !optional.includes(name));
    return withDescription({ type: 'object', properties, ...(!isUnionType(type) && { required }) }, type.description);
  }

  #leaf(type: GraphQLNamedType): JsonSchema {
    if (!isEnumType(type)) return SCALARS[type.name] ?? this.#jsonScalar(type);
    const values = [...restValuesOf(type).values()];
    this.schemas[type.name] ??= withDescription(
      { type: values.every(Number.isInteger) ? 'integer' : 'string', enum: values },
      type.description,
    );
    return { $ref: `#/components/schemas/${type.name}` };
  }

  #jsonScalar({ name, description, extensions }: GraphQLNamedType): JsonSchema {
    const { jsonSchema } = extensions as Partial<JsonScalarExtensions>;
    if (!jsonSchema) return withDescription({ type: 'string' }, description);
    this.schemas[name] ??= withDescription(jsonSchema, description);
    return { $ref: `#/components/schemas/${name}` };
  }

  #inputObject(type: GraphQLInputObjectType): JsonSchema {
    const ref = { $ref: `#/components/schemas/${type.name}` };
    if (this.schemas[type.name]) return ref;
    // Set before the fields are converted, because they may refer to this type.
    this.schemas[type.name] = {};
    const { properties, required } = this.inputFields(type);
    this.schemas[type.name] = withDescription(
      { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false },
      type.description,
    );
    return ref;
  }
}

/** Adds a default value. The default of an enum is its internal value, which is the REST value. */
export const withDefault = (schema: JsonSchema, value: unknown): JsonSchema =>
  value === undefined || value === null || typeof value === 'object' ? schema : { ...schema, default: value };
