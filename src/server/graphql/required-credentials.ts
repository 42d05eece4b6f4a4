import { Kind, type DocumentNode, type GraphQLSchema, type OperationDefinitionNode, type SelectionNode } from 'graphql';
import { permissionOf, refusesInvalid } from '../../../resolvers/support/guard.ts';

/** An operation with its document and the variables of the request. */
interface RequestedOperation {
  document: DocumentNode;
  operation: OperationDefinitionNode;
  variables: Readonly<Record<string, unknown>>;
  /** Whether the request has credentials that are not valid. */
  hasInvalid?: boolean | undefined;
}

/**
 * Returns whether an operation runs a root field that requires credentials, so that a request without them is refused
 * before anything runs; with invalid ones, also an optional field. Fields that `@skip` and `@include` leave out do not count.
 */
export function requiresCredentials(
  schema: GraphQLSchema,
  { document, operation, variables, hasInvalid = false }: RequestedOperation,
): boolean {
  const fields = schema.getRootType(operation.operation)?.getFields() ?? {};
  const fragments = new Map(
    document.definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
  );
  const defaults = new Map(
    operation.variableDefinitions?.map(({ variable, defaultValue }) => [variable.name.value, defaultValue]),
  );
  /** Returns the value of a condition; undefined if it is not Boolean, which fails later. */
  const conditionOf = ({ directives = [] }: SelectionNode, name: string): boolean | undefined => {
    const value = directives.find((directive) => directive.name.value === name)?.arguments?.[0]?.value;
    if (value?.kind !== Kind.VARIABLE) return value?.kind === Kind.BOOLEAN ? value.value : undefined;
    const given = variables[value.name.value];
    const fallback = defaults.get(value.name.value);
    if (given === undefined) return fallback?.kind === Kind.BOOLEAN ? fallback.value : undefined;
    return typeof given === 'boolean' ? given : undefined;
  };
  const isPrivate = (selection: SelectionNode): boolean => {
    if (conditionOf(selection, 'skip') === true || conditionOf(selection, 'include') === false) return false;
    if (selection.kind === Kind.FIELD) {
      const field = fields[selection.name.value];
      const permission = field && permissionOf(field);
      return permission !== undefined && (permission !== 'public' || (hasInvalid && refusesInvalid(field!)));
    }
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
    return fragment?.selectionSet.selections.some(isPrivate) ?? false;
  };
  return operation.selectionSet.selections.some(isPrivate);
}
