import type { GraphQLSchema } from 'graphql';
import { programBeside } from '../../adapters/process/program.ts';
import { TaskThread } from '../../adapters/process/task-thread.ts';
import type { SchemaComparison } from '../../core/platform.ts';
import { contractOf } from './sdl.ts';

/**
 * Compares schemas with the schema of the service, in threads of their own: it can take a second. Callers limit how many
 * comparisons run concurrently.
 */
export class SchemaComparer {
  readonly #schema: GraphQLSchema;
  readonly #idle: TaskThread<string, SchemaComparison>[] = [];
  #contract: string | undefined;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** Returns the changes from the schema of the service to the one of an SDL, or why that is not valid. */
  async compare(sdl: string): Promise<SchemaComparison> {
    const thread = this.#idle.pop() ?? this.#create();
    try {
      return await thread.run(sdl);
    } finally {
      this.#idle.push(thread);
    }
  }

  #create(): TaskThread<string, SchemaComparison> {
    return new TaskThread(programBeside(import.meta.url, 'schema-check-worker'), {
      data: () => (this.#contract ??= contractOf(this.#schema)),
      heapMb: 512,
      idleMs: 60_000,
      timeoutMs: 20_000,
      failure: 'The schema could not be checked',
    });
  }
}
