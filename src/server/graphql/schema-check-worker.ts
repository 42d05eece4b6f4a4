/** Worker thread that compares schemas with the schema of the service. */
import { workerData } from 'node:worker_threads';
import { buildSchema, validateSchema, type GraphQLSchema } from 'graphql';
import { serveTasks } from '../../adapters/process/serve-tasks.ts';
import type { SchemaComparison } from '../../core/platform.ts';
import { findSchemaChanges } from '../../core/schema-changes.ts';

const current = buildSchema(workerData as string, { assumeValid: true });

serveTasks<string, SchemaComparison>((sdl) => {
  const proposed = build(sdl);
  return typeof proposed === 'string' ? { invalid: proposed } : { changes: findSchemaChanges(current, proposed) };
});

/** Returns the schema of an SDL, or why there is none. */
function build(sdl: string): GraphQLSchema | string {
  try {
    const schema = buildSchema(sdl);
    const [error] = validateSchema(schema);
    return error ? error.message : schema;
  } catch (error) {
    return error instanceof RangeError ? 'It nests too deeply' : (error as Error).message;
  }
}
