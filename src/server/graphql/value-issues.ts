import {
  getOperationAST,
  GraphQLError,
  isInputType,
  Kind,
  typeFromAST,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';
import { findIssues, toValueIssue } from '../../../rest-bridge/argument-issues.ts';
import { badInput, type ValidationIssue } from '../../core/errors.ts';
import { pathOfNode, variablePath } from './value-paths.ts';

/** A request whose values graphql-js refused. */
interface RefusedRequest {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName?: string | null | undefined;
  variables: Readonly<Record<string, unknown>>;
}

/**
 * Returns errors for clients. Errors of graphql-js about variables become one error with `validation`, and an error
 * about a literal gets its path. Others stay as they are. Called only after graphql-js refused a request, so that valid
 * requests are checked once.
 */
export function describeRefusedValues(
  errors: readonly GraphQLError[],
  request: RefusedRequest,
): readonly GraphQLError[] {
  const ofVariables = errors.filter(isVariableError);
  const issues = ofVariables.length > 0 ? findVariableIssues(request) : [];
  if (issues.length > 0) {
    const nodes = ofVariables.flatMap((error) => error.nodes ?? []);
    const others = errors.filter((error) => !isVariableError(error));
    return [toError(issues, nodes), ...others];
  }
  return errors.map((error) => {
    const issue = findLiteralIssue(error, request.document);
    return issue ? toError([issue], error.nodes ?? []) : error;
  });
}

const toError = (validation: ValidationIssue[], nodes: GraphQLError['nodes']): GraphQLError => {
  const { message } = validation[0]!;
  return new GraphQLError(message, { nodes, originalError: badInput(message, { validation }) });
};

const isVariableError = ({ message, path }: GraphQLError): boolean => !path && message.startsWith('Variable "$');

function findVariableIssues({ schema, document, operationName, variables }: RefusedRequest): ValidationIssue[] {
  const { variableDefinitions = [] } = getOperationAST(document, operationName) ?? {};
  return findIssues(
    variableDefinitions.flatMap((definition) => {
      const name = definition.variable.name.value;
      const type = typeFromAST(schema, definition.type);
      const value = variables[name];
      if (!isInputType(type) || (value === undefined && definition.defaultValue)) return [];
      return [{ path: variablePath(document, name), name, type, rule: undefined, value }];
    }),
  );
}

const LITERALS = new Set<string>([
  Kind.BOOLEAN,
  Kind.ENUM,
  Kind.FLOAT,
  Kind.INT,
  Kind.LIST,
  Kind.NULL,
  Kind.OBJECT,
  Kind.STRING,
]);

/** Returns the issue of a literal that does not fit its type; undefined for other errors. */
function findLiteralIssue({ message, nodes }: GraphQLError, document: DocumentNode): ValidationIssue | undefined {
  const [literal] = nodes ?? [];
  if (!literal || !LITERALS.has(literal.kind)) return undefined;
  // Found without a regular expression: the message has the literal, which may be long.
  const verb = message.indexOf(' cannot represent ');
  const text = message.endsWith(' found null.')
    ? 'Expected non-nullable type'
    : verb > 0
      ? message.slice(message.lastIndexOf(' ', verb - 1) + 1)
      : undefined;
  const path = text === undefined ? undefined : pathOfNode(document, literal);
  return path && toValueIssue(path, text!);
}
