import {
  Kind,
  OperationTypeNode,
  type DefinitionNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

const TYPENAME = '__typename';
const INTROSPECTION: ReadonlySet<string> = new Set(['__schema', '__type']);
/** Root fields that return the same to all callers who see the schema: introspection, and the SDL for federation. */
const OF_SCHEMA: ReadonlySet<string> = new Set([...INTROSPECTION, '_service']);

/** The root fields of a query, divided into introspection and other ones. */
export interface DividedDocument {
  /** Whether there is introspection. */
  readsSchema: boolean;
  /** The document without introspection; undefined if there are no other fields. */
  rest: DocumentNode | undefined;
  /** Whether the result is the same for all callers who see the schema. */
  isPublic: boolean;
  /** The names of all root fields in the response, in its order. */
  keys: readonly string[];
}

/** Divides an operation of a valid document. Returns null if no root field reads the schema. */
export function divideDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): DividedDocument | null {
  const fields = rootFieldsOf(document, operation);
  const has = (names: ReadonlySet<string>): boolean => fields.some(({ name }) => names.has(name));
  if (operation.operation !== OperationTypeNode.QUERY || !has(OF_SCHEMA)) return null;
  const isIntrospection = ({ name }: { name: string }): boolean => INTROSPECTION.has(name);
  return {
    readsSchema: has(INTROSPECTION),
    rest: fields.every(isIntrospection)
      ? undefined
      : withRootFields(schema, document, operation, (name) => !INTROSPECTION.has(name)),
    isPublic: fields.every(({ name }) => name === TYPENAME || OF_SCHEMA.has(name)),
    keys: [...new Set(fields.map(({ key }) => key))],
  };
}

/** Returns a valid document with the root fields of an operation that are introspection only. */
export const introspectionOf = (
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): DocumentNode => withRootFields(schema, document, operation, (name) => INTROSPECTION.has(name));

/** Returns the root fields of an operation, including the fields of its fragments. */
function rootFieldsOf(document: DocumentNode, operation: OperationDefinitionNode): { name: string; key: string }[] {
  const fragments = new Map<string, FragmentDefinitionNode>(
    document.definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
  );
  const found: { name: string; key: string }[] = [];
  const add = ({ selections }: SelectionSetNode): void => {
    for (const one of selections) {
      if (one.kind === Kind.FIELD) found.push({ name: one.name.value, key: (one.alias ?? one.name).value });
      else if (one.kind === Kind.INLINE_FRAGMENT) add(one.selectionSet);
      else {
        const fragment = fragments.get(one.name.value);
        // Each fragment once: later spreads of it add no keys.
        fragments.delete(one.name.value);
        if (fragment) add(fragment.selectionSet);
      }
    }
  };
  add(operation.selectionSet);
  return found;
}

/** Returns the document without the root fields of an operation that `keeps` refuses. */
function withRootFields(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  keeps: (name: string) => boolean,
): DocumentNode {
  const keep = (set: SelectionSetNode): SelectionSetNode => {
    const selections = set.selections.flatMap((one): SelectionNode[] => {
      if (one.kind === Kind.FIELD) return keeps(one.name.value) ? [one] : [];
      return [one.kind === Kind.INLINE_FRAGMENT ? { ...one, selectionSet: keep(one.selectionSet) } : one];
    });
    return { ...set, selections: selections.length > 0 ? selections : [NOTHING] };
  };
  const root = schema.getQueryType()!.name;
  const definitions = document.definitions.map((one): DefinitionNode => {
    if (one === operation) return { ...operation, selectionSet: keep(operation.selectionSet) };
    const isOfRoot = one.kind === Kind.FRAGMENT_DEFINITION && one.typeCondition.name.value === root;
    return isOfRoot ? { ...one, selectionSet: keep(one.selectionSet) } : one;
  });
  return { ...document, definitions };
}

/** A field that is never selected: a selection set must not be empty. */
const NOTHING: SelectionNode = {
  kind: Kind.FIELD,
  name: { kind: Kind.NAME, value: TYPENAME },
  directives: [
    {
      kind: Kind.DIRECTIVE,
      name: { kind: Kind.NAME, value: 'skip' },
      arguments: [
        {
          kind: Kind.ARGUMENT,
          name: { kind: Kind.NAME, value: 'if' },
          value: { kind: Kind.BOOLEAN, value: true },
        },
      ],
    },
  ],
};
