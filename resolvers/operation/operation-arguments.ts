import { ArgsType, Field } from 'type-graphql';
import { invalid } from '../../src/core/input-checks.ts';
import { PROGRESS_RULE, Rule } from '../../src/core/input-rules.ts';
import { Json } from '../../src/core/scalars.ts';
import type { OperationRecord } from '../../src/services/operation/operation-record.ts';

/** The arguments of every mutation that starts an operation. */
@ArgsType()
export class OperationArgs {
  @Rule(PROGRESS_RULE)
  @Field(() => Json, {
    nullable: true,
    description: 'Name chosen by the client, a string or number, with which it can follow and cancel the operation.',
  })
  progress?: unknown;

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Whether to wait for the result; otherwise only `operation` is returned.',
  })
  wait!: boolean;
}

/** Returns the client's name of an operation; null if there is none. Throws 400 for anything but a string or number. */
export function parseProgress(progress: unknown): string | number | null {
  if (progress === undefined || progress === null) return null;
  if (typeof progress !== 'string' && typeof progress !== 'number')
    throw invalid('progress', 'must be a string or a number');
  return progress;
}

/** Returns an operation with its result, which is null while the operation runs. */
export const toPayload = (operation: OperationRecord) => ({ operation, result: operation.result ?? null });
