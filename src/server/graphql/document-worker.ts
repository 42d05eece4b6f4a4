/** Worker thread for long documents and introspection. It has a schema without resolvers. */
import { workerData } from 'node:worker_threads';
import {
  buildClientSchema,
  execute,
  getOperationAST,
  parse,
  specifiedRules,
  validate,
  ValuesOfCorrectTypeRule,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type IntrospectionQuery,
} from 'graphql';
import { serveTasks } from '../../adapters/process/serve-tasks.ts';
import { parseLimited } from '../../core/limits/limits.ts';
import type { DocumentResult, DocumentTask } from './document-thread.ts';
import { introspectionOf } from './schema-part.ts';

/** Maximum length of a result of introspection: about eight times the whole schema. */
const MAX_CHARACTERS = 8_000_000;

/** Values of scalars are parsed by functions, which only the process has. */
const RULES = specifiedRules.filter((rule) => rule !== ValuesOfCorrectTypeRule);

const schema = createSchema(JSON.parse(workerData as string) as IntrospectionQuery);

serveTasks<DocumentTask, DocumentResult>((task) =>
  task.kind === 'validate' ? { kind: 'errors', errors: errorsOf(task.text) } : introspect(task),
);

/** Creates the schema with its types in the order of the introspection, like the schema of the process. */
function createSchema(introspection: IntrospectionQuery): GraphQLSchema {
  const created = buildClientSchema(introspection, { assumeValid: true });
  const types = created.getTypeMap();
  for (const { name } of introspection.__schema.types) {
    const type = types[name]!;
    delete types[name];
    types[name] = type;
  }
  return created;
}

/** Returns the errors of a document. None if it does not parse: the process reports why. */
function errorsOf(text: string) {
  const document = parsed(text);
  const errors = document ? validate(schema, document, RULES) : [];
  return errors.map(({ message, positions = [] }) => ({ message, positions: [...positions] }));
}

function parsed(text: string): DocumentNode | undefined {
  try {
    return parseLimited(text);
  } catch {
    return undefined;
  }
}

function introspect({ text, variables, operationName }: DocumentTask & { kind: 'introspect' }): DocumentResult {
  const document = parse(text);
  const operation = getOperationAST(document, operationName)!;
  const { data, errors } = execute({
    schema,
    document: introspectionOf(schema, document, operation),
    variableValues: variables,
    operationName,
  }) as ExecutionResult;
  if (errors || !data) return { kind: 'failed' };
  const parts: [string, string][] = [];
  let length = 0;
  for (const [key, value] of Object.entries(data)) {
    const part = JSON.stringify(value);
    length += part.length;
    if (length > MAX_CHARACTERS) return { kind: 'tooLong' };
    parts.push([key, part]);
  }
  return { kind: 'parts', parts };
}
