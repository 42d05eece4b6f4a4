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

/** Changes an answer in place, from GraphQL's names of enum values to the specification's words. */
export type EnumEncoder = (answer: unknown) => unknown;

const restValues = new WeakMap<GraphQLEnumType, ReadonlyMap<unknown, unknown>>();

/** GraphQL's name of every value of an enum, and REST's word for it: the enum's internal value. */
export function restValuesOf(type: GraphQLEnumType): ReadonlyMap<unknown, unknown> {
  let words = restValues.get(type);
  if (!words) restValues.set(type, (words = new Map(type.getValues().map(({ name, value }) => [name, value]))));
  return words;
}

function createLeafEncoder(type: GraphQLEnumType): EnumEncoder | undefined {
  const words = restValuesOf(type);
  return [...words].every(([name, word]) => name === word) ? undefined : (name) => words.get(name);
}

/** Compiles the spelling of what a selection answers; undefined where no enum is selected, so that most answers are not walked at all. */
export function createEnumEncoder(
  schema: GraphQLSchema,
  type: GraphQLOutputType,
  selection: SelectionSetNode | undefined,
): EnumEncoder | undefined {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const item = createEnumEncoder(schema, nullable.ofType as GraphQLOutputType, selection);
    return (
      item &&
      ((list) => (
        Array.isArray(list)
          ? list.forEach((value, index) => {
              list[index] = item(value);
            })
          : undefined,
        list
      ))
    );
  }
  const spell = isEnumType(nullable)
    ? createLeafEncoder(nullable)
    : isCompositeType(nullable) && selection
      ? createObjectEncoder(schema, nullable.name, selection)
      : undefined;
  return spell && ((value) => (value === null || value === undefined ? value : spell(value)));
}

/** One speller a field of an object; of fragments on several types those apply whose key the answer has. */
function createObjectEncoder(schema: GraphQLSchema, typeName: string, selection: SelectionSetNode): EnumEncoder | undefined {
  const keys: [string, EnumEncoder][] = [];
  const collect = (name: string, set: SelectionSetNode): void => {
    const type = schema.getType(name);
    for (const node of set.selections) {
      if (node.kind === 'InlineFragment') collect(node.typeCondition?.name.value ?? name, node.selectionSet);
      if (node.kind !== 'Field' || !(isObjectType(type) || isInterfaceType(type))) continue;
      const field = type.getFields()[node.name.value];
      const spell = field && createEnumEncoder(schema, field.type, node.selectionSet);
      if (spell) keys.push([(node.alias ?? node.name).value, spell]);
    }
  };
  collect(typeName, selection);
  if (keys.length === 0) return undefined;
  return (answer) => {
    const record = answer as Record<string, unknown>;
    for (const [key, spell] of keys) if (key in record) record[key] = spell(record[key]);
    return record;
  };
}
