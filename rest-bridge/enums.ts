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
export type Speller = (answer: unknown) => unknown;

const spellings = new WeakMap<GraphQLEnumType, ReadonlyMap<unknown, unknown>>();

/** GraphQL's name of every value of an enum, and REST's word for it: the enum's internal value. */
export function wordsOf(type: GraphQLEnumType): ReadonlyMap<unknown, unknown> {
  let words = spellings.get(type);
  if (!words) spellings.set(type, (words = new Map(type.getValues().map(({ name, value }) => [name, value]))));
  return words;
}

function leafSpeller(type: GraphQLEnumType): Speller | undefined {
  const words = wordsOf(type);
  return [...words].every(([name, word]) => name === word) ? undefined : (name) => words.get(name);
}

/** Compiles the spelling of what a selection answers; undefined where no enum is selected, so that most answers are not walked at all. */
export function speller(
  schema: GraphQLSchema,
  type: GraphQLOutputType,
  selection: SelectionSetNode | undefined,
): Speller | undefined {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const item = speller(schema, nullable.ofType as GraphQLOutputType, selection);
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
    ? leafSpeller(nullable)
    : isCompositeType(nullable) && selection
      ? objectSpeller(schema, nullable.name, selection)
      : undefined;
  return spell && ((value) => (value === null || value === undefined ? value : spell(value)));
}

/** One speller a field of an object; of fragments on several types those apply whose key the answer has. */
function objectSpeller(schema: GraphQLSchema, typeName: string, selection: SelectionSetNode): Speller | undefined {
  const keys: [string, Speller][] = [];
  const collect = (name: string, set: SelectionSetNode): void => {
    const type = schema.getType(name);
    for (const node of set.selections) {
      if (node.kind === 'InlineFragment') collect(node.typeCondition?.name.value ?? name, node.selectionSet);
      if (node.kind !== 'Field' || !(isObjectType(type) || isInterfaceType(type))) continue;
      const field = type.getFields()[node.name.value];
      const spell = field && speller(schema, field.type, node.selectionSet);
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
