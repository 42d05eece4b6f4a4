import {
  getNamedType,
  isInputObjectType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type ASTNode,
  type DefinitionNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';

/**
 * Returns the schema coordinates that an operation uses, sorted: fields and their types, arguments, enum values and input
 * fields in literals, directives, and of a variable all input types and enums that its values may have. The document is valid.
 */
export function coordinatesOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): string[] {
  const found = new Set<string>();
  const info = new TypeInfo(schema);
  const addType = (type: GraphQLNamedType | null | undefined) => {
    if (type && !type.name.startsWith('__')) found.add(type.name);
  };
  const used: DocumentNode = { kind: Kind.DOCUMENT, definitions: usedDefinitions(document, operation) };
  visit(
    used,
    visitWithTypeInfo(info, {
      Field() {
        const [parent, field] = [info.getParentType(), info.getFieldDef()];
        if (!parent || !field || field.name.startsWith('__')) return;
        addType(parent);
        found.add(`${parent.name}.${field.name}`);
        addType(getNamedType(field.type));
      },
      Argument() {
        const [argument, directive, field] = [info.getArgument(), info.getDirective(), info.getFieldDef()];
        if (!argument) return;
        const owner = directive ? `@${directive.name}` : `${info.getParentType()?.name}.${field?.name}`;
        found.add(`${owner}(${argument.name}:)`);
      },
      Directive({ name }) {
        found.add(`@${name.value}`);
      },
      ObjectField({ name }) {
        const type = getNamedType(info.getParentInputType());
        if (isInputObjectType(type)) found.add(`${type.name}.${name.value}`);
      },
      EnumValue({ value }) {
        found.add(`${getNamedType(info.getInputType())?.name}.${value}`);
      },
      NamedType({ name }, _key, _parent, _path, ancestors) {
        const type = schema.getType(name.value);
        const isOfVariable = ancestors.some((node) => 'kind' in node && node.kind === Kind.VARIABLE_DEFINITION);
        if (isOfVariable) addInputTypes(type, found);
        else addType(type);
      },
    }),
  );
  return [...found].sort();
}

/** Adds the name of an input type and of all types that its values contain. */
function addInputTypes(type: GraphQLNamedType | undefined, found: Set<string>): void {
  if (!type || found.has(type.name)) return;
  found.add(type.name);
  if (isInputObjectType(type))
    for (const field of Object.values(type.getFields())) addInputTypes(getNamedType(field.type), found);
}

/** Returns an operation with the fragments that it spreads, directly or in other fragments. */
function usedDefinitions({ definitions }: DocumentNode, operation: OperationDefinitionNode): DefinitionNode[] {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  const used: DefinitionNode[] = [operation];
  const addSpreads = (node: ASTNode) =>
    visit(node, {
      FragmentSpread({ name }) {
        const fragment = fragments.get(name.value);
        if (!fragment) return;
        fragments.delete(name.value);
        used.push(fragment);
        addSpreads(fragment);
      },
    });
  addSpreads(operation);
  return used;
}
