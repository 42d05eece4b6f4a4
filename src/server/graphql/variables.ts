import { graphqlLimit } from '../../core/errors.ts';
import { isDeeperThan, MAX_JSON_DEPTH } from '../../core/json-depth.ts';

/** Throws `GRAPHQL_LIMIT` for variables that nest too deeply. */
export function checkVariables(variables: unknown): void {
  if (isDeeperThan(variables, MAX_JSON_DEPTH))
    throw graphqlLimit(`The variables nest deeper than ${MAX_JSON_DEPTH} levels`);
}
