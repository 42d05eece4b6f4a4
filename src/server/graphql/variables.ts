import { visit, type DocumentNode, type OperationDefinitionNode } from 'graphql';
import { graphqlLimit } from '../../core/errors.ts';
import { checkTexts } from '../../core/input-text.ts';
import { isDeeperThan, MAX_JSON_DEPTH } from '../../core/json-depth.ts';
import { isStorable, isStorableJson } from '../../core/storable-text.ts';
import { literalPath, variablePath } from './value-paths.ts';

/**
 * Checks the texts of a document and the variables that its operation declares: others have no effect.
 * Throws `GRAPHQL_LIMIT` for variables that nest too deeply, and
 * `BAD_USER_INPUT` with the paths of texts that cannot be stored.
 */
export function checkValues(
  document: DocumentNode,
  operation: OperationDefinitionNode | null | undefined,
  sent: Readonly<Record<string, unknown>> = {},
): void {
  const variables = declaredValues(operation, sent);
  if (isDeeperThan(variables, MAX_JSON_DEPTH))
    throw graphqlLimit(`The variables nest deeper than ${MAX_JSON_DEPTH} levels`);
  for (const name in variables)
    if (!isStorableJson(variables[name])) checkTexts(variables[name], variablePath(document, name));
  checkLiterals(document);
}

/** Returns the values of the variables that an operation declares. */
export function declaredValues(
  operation: OperationDefinitionNode | null | undefined,
  variables: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const names = (operation?.variableDefinitions ?? []).map(({ variable }) => variable.name.value);
  return Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(variables, name) ? [[name, variables[name]] as const] : [])),
  );
}

/** Checks the texts of a document. The lexer of graphql-js refuses lone surrogates. */
function checkLiterals(document: DocumentNode): void {
  const source = document.loc?.source.body ?? '';
  if (!source.includes('\0') && !source.includes('\\u')) return;
  visit(document, {
    StringValue({ value }, _key, _parent, position) {
      if (!isStorable(value)) checkTexts(value, literalPath(document, position));
    },
  });
}
