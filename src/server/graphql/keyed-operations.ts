import { hash } from 'node:crypto';
import {
  execute,
  getDirectiveValues,
  getVariableValues,
  GraphQLError,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
} from 'graphql';
import { runsOnce } from '../../../resolvers/support/idempotency-exceptions.ts';
import type { PublicContext } from '../../core/context.ts';
import type { KeyedRequest } from '../../core/idempotency.ts';

type Variables = Readonly<Record<string, unknown>>;

/** A mutation of a client. */
interface SentMutation {
  document: DocumentNode;
  operation: OperationDefinitionNode;
  variables: Variables;
}

/** Opens a mutation with the key of its request. Returns undefined without a key. Throws 400 and 422. */
export const openMutation = async (
  { openKeyed }: PublicContext,
  { operation, variables }: Omit<SentMutation, 'document'>,
  text: string,
): Promise<KeyedRequest | undefined> =>
  openKeyed?.({
    method: 'POST',
    path: 'graphql',
    query: operation.name?.value ?? null,
    body: { document: hash('sha256', text), variables },
  });

/**
 * Runs the root fields of a mutation one after the other, each once for the key of its request. Like graphql-js, it ends
 * with the first one whose result is missing. `extensions.idempotencyReplayed` lists the ones that had run before. Returns null,
 * and runs nothing, if the variables do not fit their types.
 */
export async function runKeyedMutation(
  schema: GraphQLSchema,
  { document, operation, variables }: SentMutation,
  contextValue: PublicContext,
  keyed: KeyedRequest,
): Promise<ExecutionResult | null> {
  const fragments = document.definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION);
  const run = (selections: readonly SelectionNode[]) =>
    execute({
      schema,
      document: {
        kind: Kind.DOCUMENT,
        definitions: [{ ...operation, selectionSet: { kind: Kind.SELECTION_SET, selections } }, ...fragments],
      },
      contextValue,
      variableValues: variables,
    });
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  if (!coerced) return null;
  const data: Record<string, unknown> = {};
  const errors: GraphQLError[] = [];
  const replayed: string[] = [];
  let isComplete = true;
  for (const [path, fields] of collectRootFields(operation, fragments, coerced)) {
    const field = fields[0]!.name.value;
    const result = await (field !== '__typename' && runsOnce(field)
      ? keyed
          .run({ field, path, form: 'graphql' }, () => run(fields))
          .catch((error: unknown) => failed(error, fields, path))
      : run(fields));
    errors.push(...(result.errors ?? []));
    if ('isReplayed' in result && result.isReplayed) replayed.push(path);
    isComplete = Boolean(result.data);
    if (!isComplete) break;
    data[path] = result.data![path];
  }
  return {
    ...(errors.length > 0 && { errors }),
    data: isComplete ? data : null,
    ...(replayed.length > 0 && { extensions: { idempotencyReplayed: replayed } }),
  };
}

const failed = (error: unknown, nodes: readonly FieldNode[], path: string): ExecutionResult => ({
  data: null,
  errors: [new GraphQLError((error as Error).message, { nodes, path: [path], originalError: error as Error })],
});

/** Returns the root fields that run, by the keys of their results. */
function collectRootFields(
  operation: OperationDefinitionNode,
  fragments: readonly FragmentDefinitionNode[],
  variables: Variables,
): Map<string, FieldNode[]> {
  const found = new Map<string, FieldNode[]>();
  const visited = new Set<string>();
  const collect = (selections: readonly SelectionNode[]): void => {
    for (const selection of selections) {
      const isSkipped = getDirectiveValues(GraphQLSkipDirective, selection, variables)?.['if'] === true;
      const isIncluded = getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.['if'] !== false;
      if (isSkipped || !isIncluded) continue;
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        found.set(key, [...(found.get(key) ?? []), selection]);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet.selections);
      else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value);
        collect(fragments.find(({ name }) => name.value === selection.name.value)!.selectionSet.selections);
      }
    }
  };
  collect(operation.selectionSet.selections);
  return found;
}
