import {
  getNullableType,
  isCompositeType,
  isEnumType,
  isInterfaceType,
  isListType,
  isObjectType,
  type GraphQLEnumType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';

/** Replaces GraphQL's names of enum values by their REST values, in place. Returns the result. */
type EnumEncoder = (result: unknown) => unknown;

const restValues = new WeakMap<GraphQLEnumType, ReadonlyMap<unknown, unknown>>();

/** Returns the REST value of each enum value by its GraphQL name. The REST value is the internal value of the enum. */
export function restValuesOf(type: GraphQLEnumType): ReadonlyMap<unknown, unknown> {
  let values = restValues.get(type);
  if (!values) restValues.set(type, (values = new Map(type.getValues().map(({ name, value }) => [name, value]))));
  return values;
}

function createLeafEncoder(type: GraphQLEnumType): EnumEncoder | undefined {
  const values = restValuesOf(type);
  return [...values].every(([name, value]) => name === value) ? undefined : (name) => values.get(name);
}

/**
 * Creates the encoder for the results of a selection. Returns undefined when no enum is selected: most results need no
 * pass.
 */
export function createEnumEncoder(
  schema: GraphQLSchema,
  type: GraphQLOutputType,
  selection: SelectionSetNode | undefined,
): EnumEncoder | undefined {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const encodeItem = createEnumEncoder(schema, nullable.ofType as GraphQLOutputType, selection);
    return encodeItem && ((list) => encodeList(list, encodeItem));
  }
  const encode = isEnumType(nullable)
    ? createLeafEncoder(nullable)
    : isCompositeType(nullable) && selection
      ? createObjectEncoder(schema, nullable.name, selection)
      : undefined;
  return encode && ((value) => (value === null || value === undefined ? value : encode(value)));
}

function encodeList(list: unknown, encodeItem: EnumEncoder): unknown {
  if (Array.isArray(list))
    list.forEach((value, index) => {
      list[index] = encodeItem(value);
    });
  return list;
}

/**
 * Creates the encoder of an object from the encoders of its fields. With fragments on several types, it encodes only
 * keys that the result has.
 */
function createObjectEncoder(
  schema: GraphQLSchema,
  typeName: string,
  selection: SelectionSetNode,
): EnumEncoder | undefined {
  const keys: [string, EnumEncoder][] = [];
  const collect = (name: string, set: SelectionSetNode): void => {
    const type = schema.getType(name);
    for (const node of set.selections) {
      if (node.kind === 'InlineFragment') collect(node.typeCondition?.name.value ?? name, node.selectionSet);
      if (node.kind !== 'Field' || !(isObjectType(type) || isInterfaceType(type))) continue;
      const field = type.getFields()[node.name.value];
      const encode = field && createEnumEncoder(schema, field.type, node.selectionSet);
      if (encode) keys.push([(node.alias ?? node.name).value, encode]);
    }
  };
  collect(typeName, selection);
  if (keys.length === 0) return undefined;
  return (result) => {
    const record = result as Record<string, unknown>;
    for (const [key, encode] of keys) if (key in record) record[key] = encode(record[key]);
    return record;
  };
}
