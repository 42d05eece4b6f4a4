import { setTimeout } from 'node:timers/promises';
import { badInput } from '../../src/core/errors.ts';
import { newId } from '../../src/core/id.ts';
import type { Handler, Handlers } from '../../src/operations/handler.ts';
import { insertGeneration } from '../../src/services/dataset/generation.ts';

/** Input of the counting operation. */
export interface CountingInput {
  /** Last number. */
  until?: number;
  /** Pause at each number, in milliseconds. */
  every?: number;
  /** Fails after the last number, with an `ApiError` or with an unexpected error. */
  fail?: 'callerError' | 'bug';
  /** Whether it continues after its signal aborts. */
  ignoreSignal?: boolean;
}

/** Result of the counting operation. */
interface CountingResult {
  pid: number;
  attempt: number;
}

declare module '../../src/core/operations.ts' {
  interface OperationInputs {
    'test.count': CountingInput;
  }
}

declare module '../../src/operations/operation-results.ts' {
  interface OperationResults {
    'test.count': CountingResult;
  }
}

/** An operation that counts. It publishes a generation whose number of records is the attempt. */
const counting = (takeover: boolean): Handler<'test.count'> => ({
  takeover,
  async run(job) {
    const { until = 0, every = 0, fail, ignoreSignal = false } = job.input;
    for (let n = 1; n <= until; n++) {
      job.progress({ current: n, total: until, message: `Number ${n}` });
      if (every > 0) await setTimeout(every, undefined, ignoreSignal ? {} : { signal: job.signal });
    }
    if (fail === 'callerError') throw badInput('The number is odd');
    if (fail === 'bug') throw new Error('The password is hunter2');
    return {
      async publish(tx) {
        const generation = { id: newId(), fields: [], records: job.attempt, size: 0, warnings: [] };
        await insertGeneration(tx, job.tenantId, job.resourceId, generation);
        return { pid: process.pid, attempt: job.attempt };
      },
    };
  },
});

/** Handlers of a worker that only counts. */
export const countingHandlers = ({ takeover = true } = {}): Handlers => ({ 'test.count': counting(takeover) });
