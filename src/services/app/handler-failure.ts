import type { HandlerOutcome } from '../../core/app-run.ts';
import { ApiError, timedOut, upstreamFailed } from '../../core/errors.ts';
import type { SandboxFailure } from '../../core/sandbox.ts';
import { HANDLER_ENTRY, MARKDOWN_MODULE } from './app-code-cache.ts';

/** Returns the error of a handler whose caller gets no response. */
export const disconnected = (): ApiError => new ApiError(409, 'CANCELLED', 'The caller disconnected');

/** Returns how a handler failed, even after its response; undefined if it did not. */
export const failureOf = (result: HandlerOutcome['result']): ApiError | undefined =>
  'failure' in result ? result.failure : result.lateFailure;

/** Returns the error of a handler that failed, with its message for authors: the file and line, and what was thrown. */
export function failureError(
  failure: SandboxFailure,
  { timeoutMs, memoryBytes }: { timeoutMs: number; memoryBytes: number },
): ApiError {
  const details = { cause: failure };
  switch (failure.reason) {
    case 'timeout':
      return timedOut(`The handler takes longer than ${timeoutMs} ms`, details);
    case 'memory':
      return upstreamFailed(`The handler needs more than ${memoryBytes / 1024 ** 2} MB of memory`, details);
    case 'crash':
      return upstreamFailed('The process of the handler ended unexpectedly', details);
    case 'output':
      return upstreamFailed(failure.message, details);
    case 'host-calls':
      return upstreamFailed(failure.message.replace(/^The program\b/, 'The handler'), details);
    case 'exception': {
      const place = failure.places.find(({ module }) => module !== HANDLER_ENTRY && module !== MARKDOWN_MODULE);
      const { message } = failure;
      return upstreamFailed(place ? `${place.module}:${place.line}: ${message}` : message, details);
    }
  }
}
