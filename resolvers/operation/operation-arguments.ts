import { ArgsType, Field } from 'type-graphql';
import { PROGRESS_RULE, Rule } from '../../src/core/input-rules.ts';
import type { OperationRecord } from '../../src/services/operation/operation-record.ts';

/** The arguments of every mutation that starts an operation. */
@ArgsType()
export class OperationArgs {
  @Rule(PROGRESS_RULE)
  @Field(() => String, {
    nullable: true,
    description: 'Name chosen by the client, with which it can follow and cancel the operation.',
  })
  progress?: string | null;

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Whether to wait for the result; otherwise only `operation` is returned.',
  })
  wait!: boolean;
}

/** Returns an operation with its result, which is null while the operation runs. */
export const toPayload = (operation: OperationRecord) => ({ operation, result: operation.result ?? null });
