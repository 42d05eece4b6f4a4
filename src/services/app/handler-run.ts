import { toApiError } from '../../core/api-error.ts';
import type { HandlerOutcome, HandlerTask } from '../../core/app-run.ts';
import { ApiError } from '../../core/errors.ts';
import { handlersTooDeep, MAX_HANDLER_DEPTH } from '../../core/handler-depth.ts';
import type { Platform } from '../../core/platform.ts';
import { SandboxFailure, type SandboxLimits, type SandboxPurpose } from '../../core/sandbox.ts';
import { HANDLER_ENTRY, handlerModules, loadReleaseCode } from './app-code-cache.ts';
import { MAX_LOG_BYTES } from './app-log-lines.ts';
import { openEnv } from './find-running-app.ts';
import { runUntilDeleted } from './handler-ends.ts';
import { disconnected, failureError } from './handler-failure.ts';
import { createHostCalls } from './handler-host.ts';
import { placeCallerOf } from './handler-places.ts';
import { readResponse } from './handler-response.ts';

const MEBIBYTE = 1024 ** 2;
const DEFAULT_TIMEOUT_MS = 30_000;
const LIMITS: Omit<SandboxLimits, 'timeoutMs'> = {
  memoryBytes: 128 * MEBIBYTE,
  outputBytes: 6_000_000,
  logBytes: MAX_LOG_BYTES,
  hostCalls: 1000,
  hostBytes: 64 * MEBIBYTE,
};

/** The places of handlers by how many handlers called each other. Those that are called never wait for their callers. */
const PURPOSES: readonly SandboxPurpose[] & { length: typeof MAX_HANDLER_DEPTH } = ['handler', 'called', 'nested'];

/**
 * Runs a handler of an app in the sandbox. Returns its response or its failure, also when its request ends or its app is deleted
 * meanwhile, which is NOT_FOUND. Throws UNAVAILABLE if too many handlers run, or call each other, and the reason of what ended
 * it before it started.
 */
export async function runHandler(platform: Platform, task: HandlerTask): Promise<HandlerOutcome> {
  const { app, depth, route, ctx } = task;
  if (depth >= MAX_HANDLER_DEPTH) throw handlersTooDeep();
  const env = Object.fromEntries(openEnv(platform.secrets, app));
  const { timeout } = route.config;
  const limits = { ...LIMITS, timeoutMs: typeof timeout === 'number' ? timeout : DEFAULT_TIMEOUT_MS };
  return runUntilDeleted(platform, app.id, ctx.request.signal, async (signal) => {
    const code = await loadReleaseCode(platform, app);
    let startedAt: number | null = null;
    const endWith = (
      result: HandlerOutcome['result'],
      { logs, memoryBytes }: Pick<SandboxFailure, 'logs' | 'memoryBytes'> = { logs: [], memoryBytes: 0 },
    ): HandlerOutcome => ({
      result,
      logs,
      durationMs: startedAt === null ? 0 : performance.now() - startedAt,
      memoryBytes,
    });
    try {
      const ended = await platform.sandbox.run({
        caller: placeCallerOf(task),
        purpose: PURPOSES[depth]!,
        isHandler: true,
        modules: handlerModules(code, route.handlerPath, route.method),
        entry: HANDLER_ENTRY,
        input: inputOf(platform, task, env),
        host: createHostCalls(platform, task),
        secrets: Object.values(env),
        textAs: 'bytes',
        limits,
        signal,
        onStart: () => {
          startedAt = performance.now();
        },
      });
      return endWith(resultOf(ended.output), ended);
    } catch (error) {
      if (error instanceof SandboxFailure) return endWith({ failure: failureError(error, limits) }, error);
      if (!signal.aborted || startedAt === null) throw error;
      return endWith({ failure: toApiError(signal.reason) ?? disconnected() });
    }
  });
}

/** Returns what crosses to the handler: all that its argument contains as values. */
function inputOf(platform: Platform, task: HandlerTask, env: Record<string, string>): object {
  const { app, request, params, user, roles } = task;
  const { method, path, query, headers, body } = request;
  return {
    request: { method, path, params, query, headers, user, roles },
    body,
    context: {
      app: { id: app.id, name: app.name, slug: app.slug },
      tenant: app.tenant,
      releaseId: app.releaseId,
      baseUrl: platform.publicUrl,
    },
    env,
  };
}

function resultOf(output: unknown): HandlerOutcome['result'] {
  try {
    return { response: readResponse(output) };
  } catch (error) {
    if (error instanceof ApiError) return { failure: error };
    throw error;
  }
}
