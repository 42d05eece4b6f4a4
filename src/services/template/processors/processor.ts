import type { Context } from '../../../core/context.ts';
import type { ResourceKind } from '../../../core/permissions.ts';
import type { JsonPath } from '../template-input-subschemas.ts';

/** Limits of a reading. */
export interface ReadLimits {
  /** Maximum number of rows in a preview; null otherwise. */
  previewRows: number | null;
  /** Counts a value that was read. Throws 413 when all values together are too large. */
  take(value: unknown): void;
}

/** A value of an input within a config. */
export interface Binding {
  /** Path within the config. */
  path: JsonPath;
  /** Name of the input. */
  input: string;
  value: unknown;
}

/** A source of data of templates. `C` is its config, which fits the schema. */
export interface Processor<C = never> {
  /** JSON Schema of the config. */
  schema: Record<string, unknown>;
  /** Kinds of the resources that the config names, by the key with the id. */
  names: Readonly<Record<string, Extract<ResourceKind, 'dataset' | 'query'>>>;
  /** Reads the data with the access of the context. Throws the errors of the service that reads. */
  read(ctx: Context, config: C, limits: ReadLimits): Promise<Record<string, unknown>>;
  /** Returns the binding whose value was refused with BAD_USER_INPUT, if the error does not name its place. */
  findRefused?(ctx: Context, config: C, bindings: readonly Binding[]): Promise<Binding | undefined>;
}
